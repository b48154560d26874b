import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { StartError } from '../../platform/start-error.ts'

/** The first with `merge-tree --write-tree`. */
const OLDEST = [2, 38] as const

/** Throws StartError unless there is a git that is new enough. */
export async function requireGit(binary = 'git'): Promise<void> {
  const wanted = `git ${OLDEST.join('.')} or later is needed`
  const { stdout } = await promisify(execFile)(binary, ['--version']).catch((cause: unknown) => {
    throw new StartError(`${wanted}, and there is none on this machine. Install it, and start again.`, {
      cause,
    })
  })
  const [, version = '', major, minor] = /((\d+)\.(\d+)\S*)/.exec(stdout) ?? []
  const isNewEnough = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])
  if (!isNewEnough) throw new StartError(`${wanted}, and this machine has ${version || 'an unknown one'}.`)
}

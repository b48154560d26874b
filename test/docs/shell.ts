// A shell that documents are typed into, block after block: what one sets, the next one has.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What the command at a line of a block printed, and how it ended. */
export interface Typed {
  line: number
  output: string
  status: number
}

export interface Shell extends AsyncDisposable {
  /** Runs a block and gives its commands, in order. */
  type(text: string): Promise<Typed[]>
}

/** `directory` is where it begins, and where it keeps what it was told. */
export function startShell(directory: string, env: Record<string, string | undefined>): Shell {
  const child = spawn('bash', ['--norc', '--noprofile', '-s'], {
    cwd: directory,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.write('exec 2>&1 3>&1\nset -o pipefail\n')
  const closed = once(child, 'close')
  let said = ''
  let heard = () => {}
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    said += chunk
    heard()
  })
  void closed.then(() => heard())
  let typed = 0

  return {
    async type(text) {
      const name = `.block-${++typed}`
      // Before each command it is told which line it is at, and how the one before ended. In a chain of `&&` that is all
      // there is to see of one that failed.
      const trace = `trap 'printf "\\n@@%s %s@@\\n" "$LINENO" "$?" >&3' DEBUG`
      await writeFile(join(directory, name), `${trace}\n${text}\n`)
      const end = `@@end ${typed}@@`
      said = ''
      child.stdin.write(`. ${join(directory, name)}\ntrap - DEBUG\nprintf '\\n${end}\\n' >&3\n`)
      while (!said.includes(end)) {
        if (child.exitCode !== null) throw new Error(`the shell ended: ${said}`)
        await new Promise<void>((wake) => {
          heard = wake
        })
      }
      return commandsIn(said.slice(0, said.indexOf(end)))
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await closed
    },
  }
}

function commandsIn(said: string): Typed[] {
  const [unread = '', ...pieces] = said.split(/\n@@(\d+ \d+)@@\n/)
  // Before the first command: what the shell says of a block that it cannot read.
  const commands: Typed[] = [{ line: 0, output: unread, status: 0 }]
  for (let i = 0; i < pieces.length; i += 2) {
    const [at = 0, before = 0] = (pieces[i] ?? '').split(' ').map(Number)
    const output = pieces[i + 1] ?? ''
    const last = commands.at(-1)
    if (!last) continue
    last.status = before
    // The parts of a pipe, or of a chain, are one command.
    if (last.line === at - 2) last.output += output
    else commands.push({ line: at - 2, output, status: 0 })
  }
  // The last one is where the tracing ends.
  return commands.slice(0, -1)
}

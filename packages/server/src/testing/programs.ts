// Programs that tests run: stock git, thousands of times. Node would start each by copying the page tables of its own
// memory, with a whole server in it, which takes many milliseconds. So a shell, which is small, is told what to start.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface RunOptions {
  cwd: string
  /** All of its environment. */
  env: Readonly<Record<string, string | undefined>>
  input?: string | Uint8Array | undefined
}

export interface Ran {
  /** As a shell tells it: of one that a signal ended it is 128 and the signal's number. */
  code: number
  stdout: Buffer
  stderr: string
}

/** Runs a program and tells how it ended, whatever that was. */
export const runProgram = async (words: readonly string[], options: RunOptions): Promise<Ran> =>
  new Promise((ended) => theShell().start(words, options, ended))

/** The same, while nothing else goes on in this process. */
export const runProgramSync = (words: readonly string[], options: RunOptions): Ran =>
  theShell().wait(words, options)

let shell: ReturnType<typeof startShell> | undefined

function theShell() {
  shell ??= startShell()
  return shell
}

function startShell() {
  const directory = mkdtempSync(join(tmpdir(), 'trellis-programs-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const [commands, codes] = [join(directory, 'commands'), join(directory, 'codes')]
  execFileSync('mkfifo', [commands, codes])
  // Open for both, or it would wait for the other side. The shell ends when we, the only ones who write, have gone.
  const [told, answered] = [openSync(commands, 'r+'), openSync(codes, 'r+')]
  const child = spawn('/bin/sh', ['-c', 'exec /bin/sh < "$0" 3> "$1"', commands, codes], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const running = new Map<string, (code: number) => void>()
  // While nothing runs, the shell keeps this process from ending no more than a file would.
  const keepAwake = () => {
    const how = running.size > 0 ? 'ref' : 'unref'
    child[how]()
    ;(child.stdout as Socket)[how]()
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [id = '', code] = line.split(' ')
    running.get(id)?.(Number(code))
    running.delete(id)
    keepAwake()
  })
  keepAwake()
  let started = 0

  /** What the shell is told, and what can be read when it has been done. */
  function prepare(words: readonly string[], { cwd, env, input }: RunOptions) {
    const id = String(++started)
    const file = join(directory, id)
    if (input !== undefined) writeFileSync(`${file}.in`, input)
    const from = input === undefined ? '/dev/null' : `${file}.in`
    const variables = Object.entries(env).flatMap(([name, value]) =>
      value === undefined ? [] : [`export ${name}=${quoted(value)}; `],
    )
    const program = `cd ${quoted(cwd)} && ${variables.join('')}exec ${words.map(quoted).join(' ')}`
    return {
      id,
      // No descriptor of the shell's own is left to it: whoever waits for the shell would wait for its helpers too.
      command: `(${program}) < ${from} > ${file}.out 2> ${file}.err 3>&-`,
      ran(code: number): Ran {
        const [stdout, stderr] = [readFileSync(`${file}.out`), readFileSync(`${file}.err`, 'utf8')]
        for (const kind of input === undefined ? ['out', 'err'] : ['in', 'out', 'err'])
          rmSync(`${file}.${kind}`)
        return { code, stdout, stderr }
      },
    }
  }

  return {
    start(words: readonly string[], options: RunOptions, ended: (ran: Ran) => void): void {
      const { id, command, ran } = prepare(words, options)
      running.set(id, (code) => ended(ran(code)))
      keepAwake()
      writeSync(told, `{ ${command}; echo ${id} $?; } &\n`)
    },
    wait(words: readonly string[], options: RunOptions): Ran {
      const { command, ran } = prepare(words, options)
      writeSync(told, `${command}; echo $? >&3\n`)
      const answer = Buffer.alloc(8)
      return ran(Number(answer.toString('latin1', 0, readSync(answered, answer))))
    },
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

// Which other clients this machine has, and how the others are installed.

import { existsSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { runProgram } from '@trellis/server/testing'

/** What starts a client. */
export interface Command {
  words: string[]
}

export interface OtherClient {
  name: string
  /** Debian's packages; none for what `npm ci` brings. */
  packages: string
  isInstalled: boolean
  /** Prepares what is needed to start it, in an empty directory. */
  prepare(directory: string): Promise<Command>
}

const program = (file: string) => join(import.meta.dirname, file)
const onPath = (name: string) =>
  (process.env.PATH ?? '').split(delimiter).some((directory) => existsSync(join(directory, name)))

/** Debian's own, whatever else is called so. */
const PYTHON = '/usr/bin/python3'
const hasPython = (module: string) => existsSync(`/usr/lib/python3/dist-packages/${module}/__init__.py`)

const JARS = ['org.eclipse.jgit', 'slf4j-api', 'slf4j-nop', 'javaewah', 'jsch'].map(
  (name) => `/usr/share/java/${name}.jar`,
)
const GO_SOURCES = '/usr/share/gocode'

export const otherClients: OtherClient[] = [
  {
    name: 'isomorphic-git',
    packages: '',
    isInstalled: true,
    prepare: async () => ({ words: [process.execPath, program('isomorphic-git.ts')] }),
  },
  {
    name: 'libgit2',
    packages: 'python3-pygit2',
    isInstalled: hasPython('pygit2'),
    prepare: async () => ({ words: [PYTHON, program('libgit2.py')] }),
  },
  {
    name: 'dulwich',
    packages: 'python3-dulwich',
    isInstalled: hasPython('dulwich'),
    prepare: async () => ({ words: [PYTHON, program('dulwich-client.py')] }),
  },
  {
    name: 'JGit',
    packages: 'libjgit-java default-jdk-headless',
    isInstalled: JARS.every((jar) => existsSync(jar)) && onPath('javac'),
    prepare: async (directory) => ({
      words: [
        'java',
        // It lives for seconds.
        '-XX:TieredStopAtLevel=1',
        '-XX:+UseSerialGC',
        `-Duser.home=${directory}`,
        '-cp',
        JARS.join(':'),
        program('JGit.java'),
      ],
    }),
  },
  {
    name: 'go-git',
    packages: 'golang-go golang-github-go-git-go-git-dev',
    isInstalled: onPath('go') && existsSync(`${GO_SOURCES}/src/github.com/go-git/go-git/go.mod`),
    prepare: buildGo,
  },
]

/** Without modules Go finds Debian's sources, and with a go.mod beside it the versions in their names. */
async function buildGo(directory: string): Promise<Command> {
  const source = join(directory, 'src/client')
  await mkdir(source, { recursive: true })
  await cp(program('go-git.go'), join(source, 'main.go'))
  await writeFile(join(source, 'go.mod'), 'module client\n')
  const built = join(directory, 'client')
  const { code, stderr } = await runProgram(['go', 'build', '-o', built, '.'], {
    cwd: source,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      GO111MODULE: 'off',
      GOFLAGS: '',
      CGO_ENABLED: '0',
      GOPATH: `${directory}:${GO_SOURCES}`,
    },
  })
  if (code !== 0) throw new Error(`go build: ${stderr}`)
  return { words: [built] }
}

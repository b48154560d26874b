// The whole environment of a git process. Nothing is inherited.

import { join } from 'node:path'

/** New objects go to `objectsDir`; what exists is read from the git directory. */
export interface Quarantine {
  objectsDir: string
}

/** Where files are written to, and where it is kept which. */
export interface WorkTree {
  directory: string
  indexFile: string
}

interface Wanted {
  config?: Readonly<Record<string, string>>
  quarantine?: Quarantine
  workTree?: WorkTree
  protocolVersion?: 0 | 1 | 2
}

const alwaysConfig = {
  // The directories are ours whoever owns them, and nothing in them may start a program or a clean-up.
  'safe.directory': '*',
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}

export function environmentOf(gitDir: string, wanted: Wanted): Record<string, string> {
  const config = Object.entries({ ...alwaysConfig, ...wanted.config })
  const env: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    // A pushed refs/replace/* must not change what others see.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_CONFIG_COUNT: String(config.length),
  }
  for (const [i, [key, value]] of config.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key
    env[`GIT_CONFIG_VALUE_${i}`] = value
  }
  if (wanted.protocolVersion !== undefined) env.GIT_PROTOCOL = `version=${wanted.protocolVersion}`
  if (wanted.workTree) {
    env.GIT_WORK_TREE = wanted.workTree.directory
    env.GIT_INDEX_FILE = wanted.workTree.indexFile
  }
  if (wanted.quarantine) {
    const { objectsDir } = wanted.quarantine
    env.GIT_OBJECT_DIRECTORY = objectsDir
    env.GIT_ALTERNATE_OBJECT_DIRECTORIES = quoted(join(gitDir, 'objects'))
    env.GIT_QUARANTINE_PATH = objectsDir
  }
  return env
}

const quoted = (path: string) => `"${path.replace(/["\\]/g, '\\$&')}"`

import { settings } from './config.ts'
import { VERSION } from './version.ts'

/** What a newcomer sets; the others are in the page they are pointed to. */
const FIRST = [
  'TRELLIS_LISTEN',
  'TRELLIS_BASE_URL',
  'TRELLIS_DATA',
  'TRELLIS_DATABASE_URL',
  'TRELLIS_SIGN_UP',
  'TRELLIS_TRUSTED_PROXIES',
] as const

const help = () => `Trellis ${VERSION}, a git host that can be programmed.

  npm start                  starts the server
  npm start -- --version     says which one this is
  npm start -- --help        says this
  npm run admin -- --help    what operators do beside it: backups, people, organizations

Settings come from the environment, and none is needed. The first to look at:

${FIRST.map(describe).join('\n')}

All ${Object.keys(settings).length} are in docs/configuration.md. SIGTERM stops the server when what is under way has ended.
`

function describe(name: (typeof FIRST)[number]): string {
  const setting = settings[name]
  const fallback = 'fallback' in setting && setting.fallback !== '' ? ` (${setting.fallback})` : ''
  return `  ${name}${fallback}\n      ${setting.about.replaceAll('`', '')}`
}

/** What the server says to its arguments instead of starting; undefined when there are none. */
export function answerTo([first, ...others]: readonly string[]):
  | { text: string; isWrong: boolean }
  | undefined {
  if (first === undefined) return undefined
  if (others.length === 0 && ['--help', '-h'].includes(first)) return { text: help(), isWrong: false }
  if (others.length === 0 && ['--version', '-v'].includes(first))
    return { text: `${VERSION}\n`, isWrong: false }
  const words = [first, ...others].join(' ')
  return {
    text: `The server takes no arguments but --help and --version: ${words}. Settings come from the environment.\n`,
    isWrong: true,
  }
}

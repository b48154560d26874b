// A real browser for tests: the one of this machine, the one from npm, or Debian's, installed where that is possible.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Browser, chromium } from 'playwright-core'
import { packedBrowser, unpackBrowser } from './packed-browser.ts'

/** The one without a desktop takes half the time, which most of what tests do in a browser is. */
const DEBIANS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const APT = '/usr/bin/apt-get'
/** Another test process may be at it. Without a font there is nothing to see. */
const INSTALL = ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends']
const PACKAGES = ['chromium-headless-shell', 'fonts-dejavu-core']

type Found = { file: string } | 'packed' | undefined

function findBrowser(): Found {
  const findInstalled = () => [process.env.CHROMIUM, ...DEBIANS].find((file) => file && existsSync(file))
  const installed = findInstalled()
  if (installed) return { file: installed }
  if (packedBrowser) return 'packed'
  if (process.getuid?.() !== 0 || !existsSync(APT)) return undefined
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' }
  // At once, since whether tests are skipped is said when they are declared. It is done once on a machine.
  spawnSync(APT, [...INSTALL, ...PACKAGES], { env, stdio: 'ignore' })
  const file = findInstalled()
  return file ? { file } : undefined
}

const found = findBrowser()

/** Why there is no browser here; false when there is one. */
export const noBrowserHere: string | false = found
  ? false
  : 'no browser here: install chromium, or name one in CHROMIUM'

/** Nothing of the outside, and nothing that only a desktop has. The profile is a new one each time. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

export async function launchBrowser(): Promise<Browser> {
  if (found === 'packed')
    return chromium.launch({ ...(await unpackBrowser()), args: [...ARGUMENTS, '--no-zygote'] })
  const env = { PATH: process.env.PATH ?? '', HOME: tmpdir() }
  return chromium.launch({ ...(found && { executablePath: found.file }), args: ARGUMENTS, env })
}

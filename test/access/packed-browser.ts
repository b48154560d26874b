// The browser from npm: no system packages, as root or not, on Linux with an x64 processor.

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { inflate } from '@sparticuz/chromium'

/** Whether it runs here. */
export const packedBrowser = process.platform === 'linux' && process.arch === 'x64'

const cache = resolve(import.meta.dirname, '../../node_modules/.cache')

/** How to start it. The arguments the package recommends are not taken: they switch off the same-origin policy. */
export async function unpackBrowser(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const home = await unpack()
  return {
    executablePath: join(home, 'chromium'),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      LD_LIBRARY_PATH: join(home, 'al2023/lib'),
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
    },
  }
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

import { build } from 'esbuild'

/** One file of JavaScript from a file of this server and what it imports, to run where the server does not. */
export async function insideSource(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
    charset: 'utf8',
    legalComments: 'none',
    external: ['cloudflare:*', 'node:*', './module.js'],
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

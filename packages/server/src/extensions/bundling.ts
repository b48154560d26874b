// How a module becomes one file. Runs in the process that builds, and nowhere else: see build-process.ts.

import type { Runtime } from '@trellis/contract'
import { type BuildFailure, build, type Loader, type Message, type Plugin } from 'esbuild'
import type { BuildMessage, BuildReport, FileAnswer } from './build-messages.ts'

/** Gives the file that an import means, or why there is none. */
type Ask = (specifier: string, importer?: string) => Promise<Omit<FileAnswer, 'question'>>

/** Everything of the commit, and nothing else: esbuild reads no file itself. */
const COMMIT = 'commit'
const MESSAGES_SHOWN = 20
const NOWHERE = '/nonexistent'
/**
 * An import whose path is put together at run time makes esbuild look for files that could be meant, past all plugins
 * and in the file system of the host. From here it finds none, unless somebody goes up further than this is deep.
 */
const DEEP_NOWHERE = `${NOWHERE}${'/x'.repeat(500)}`
const WRITTEN_OUT = 'The path of an import must be written out, not put together'

const loaders: Record<string, Loader> = {
  ts: 'ts',
  mts: 'ts',
  tsx: 'tsx',
  js: 'js',
  mjs: 'js',
  jsx: 'jsx',
  json: 'json',
}

export async function bundle(
  { entry, runtime }: { entry: string; runtime: Runtime },
  ask: Ask,
): Promise<Omit<BuildReport, 'order'>> {
  try {
    const result = await build({
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: 'esm',
      platform: runtime === 'sandbox' ? 'node' : 'neutral',
      target: 'es2024',
      charset: 'utf8',
      legalComments: 'none',
      sourcemap: 'external',
      metafile: true,
      tsconfigRaw: {},
      absWorkingDir: NOWHERE,
      outfile: `${NOWHERE}/bundle.js`,
      logLevel: 'silent',
      logLimit: MESSAGES_SHOWN,
      plugins: [fromCommit(runtime, ask)],
    })
    if (result.warnings.some(({ id }) => id === 'empty-glob')) return { messages: [{ text: WRITTEN_OUT }] }
    const contents = (ending: string) =>
      result.outputFiles.find(({ path }) => path.endsWith(ending))?.contents ?? new Uint8Array()
    const [output] = Object.entries(result.metafile.outputs).filter(([path]) => path.endsWith('.js'))
    if (!output?.[1].exports.includes('default'))
      return { messages: [{ file: entry, line: 1, column: 1, text: 'The module has no default export' }] }
    return { bundle: { code: contents('bundle.js'), sourceMap: contents('bundle.js.map') } }
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>
    if (!errors) throw error
    // What else is told then may name files of the host.
    if (errors.some(({ detail }) => detail instanceof OutsideOfCommit))
      return { messages: [{ text: WRITTEN_OUT }] }
    return { messages: errors.slice(0, MESSAGES_SHOWN).map(messageOf) }
  }
}

function fromCommit(runtime: Runtime, ask: Ask): Plugin {
  return {
    name: COMMIT,
    setup({ onResolve, onLoad }) {
      const contents = new Map<string, Uint8Array>()
      onResolve({ filter: /.*/ }, async ({ path, importer, kind, with: attributes }) => {
        const refuse = (text: string) => ({ errors: [{ text }] })
        if (kind !== 'entry-point') {
          if (path.startsWith('node:'))
            return runtime === 'sandbox'
              ? { path, external: true, sideEffects: false }
              : refuse(`"${path}" is there in the sandbox runtime only`)
          if (!/^\.\.?(\/|$)/.test(path))
            return refuse(
              `Could not resolve "${path}": a module imports files of its commit, by relative paths${
                runtime === 'sandbox' ? ', and what Node brings, by names that begin with node:' : ''
              }`,
            )
          if (attributes.type !== undefined && attributes.type !== 'json')
            return refuse(`Nothing can be imported as ${attributes.type}`)
        }
        const { file, problem } = await ask(path, kind === 'entry-point' ? undefined : importer)
        if (!file) return refuse(problem ?? `Could not resolve "${path}"`)
        contents.set(file.path, file.contents)
        return { path: file.path, namespace: COMMIT }
      })
      // Whatever comes here without having been asked for is a file of the host.
      onLoad({ filter: /.*/ }, ({ path, namespace }) => {
        if (namespace !== COMMIT) throw new OutsideOfCommit()
        const loader = loaders[path.slice(path.lastIndexOf('.') + 1)]
        const found = contents.get(path)
        if (!loader || !found)
          return { errors: [{ text: `${path} is neither TypeScript, JavaScript nor JSON` }] }
        return { contents: found, loader, resolveDir: DEEP_NOWHERE }
      })
    },
  }
}

class OutsideOfCommit extends Error {}

function messageOf({ text: original, location }: Message): BuildMessage {
  const isPutTogether = /^Could not resolve (import|require)\(/.test(original)
  // From so far up something of the host may have been looked at: then it makes no difference what was found.
  if (isPutTogether && original.includes('../'.repeat(400))) return { text: WRITTEN_OUT }
  const text = isPutTogether ? WRITTEN_OUT : original
  if (!location) return { text }
  const { file, line, column } = location
  // Columns are counted from zero there, and from one by people and editors.
  return { text, file: file.replace(/^commit:/, ''), line, column: column + 1 }
}

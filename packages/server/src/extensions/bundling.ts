// How a module becomes one file. Runs in the process that builds, and nowhere else: see build-process.ts.

import type { Runtime } from '@trellis/contract'
import { type BuildFailure, build, type Loader, type Message, type Plugin } from 'esbuild'
import type { BuildMessage, BuildReport, FileAnswer } from './build-messages.ts'

/** Gives the file that an import means, or why there is none. */
type Ask = (specifier: string, importer?: string) => Promise<Omit<FileAnswer, 'question'>>

/** Everything of the commit, and nothing else: esbuild reads no file itself. */
const COMMIT = 'commit'
const MESSAGES_SHOWN = 20
/** What is imported is repeated in them, and may be of any length. */
const MESSAGE_CHARACTERS = 500
const NOWHERE = '/nonexistent'
/**
 * An import whose path is put together at run time makes esbuild look for files that could be meant, past all plugins
 * and in the file system of the host. From here it finds none, unless somebody goes up further than this is deep.
 */
const DEEP_NOWHERE = `${NOWHERE}${'/x'.repeat(500)}`
const WRITTEN_OUT = 'The path of an import must be written out, not put together'

const loaders = new Map<string, Loader>([
  ['ts', 'ts'],
  ['mts', 'ts'],
  ['tsx', 'tsx'],
  ['js', 'js'],
  ['mjs', 'js'],
  ['jsx', 'jsx'],
  ['json', 'json'],
])

export async function bundle(
  { entry, runtime }: { entry: string; runtime: Runtime },
  ask: Ask,
): Promise<Omit<BuildReport, 'order'>> {
  try {
    const result = await build({
      // Not the path itself, in which esbuild would take some characters for a pattern.
      entryPoints: ['module'],
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
      logLimit: 0,
      logOverride: { 'empty-glob': 'error', 'unsupported-dynamic-import': 'error' },
      plugins: [fromCommit(entry, runtime, ask)],
    })
    const contents = (ending: string) =>
      result.outputFiles.find(({ path }) => path.endsWith(ending))?.contents ?? new Uint8Array()
    const [output] = Object.entries(result.metafile.outputs).filter(([path]) => path.endsWith('.js'))
    if (!output?.[1].exports.includes('default'))
      return { messages: [{ file: entry, line: 1, column: 1, text: 'The module has no default export' }] }
    return { bundle: { code: contents('bundle.js'), sourceMap: inPaths(contents('bundle.js.map')) } }
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>
    // Without any, or when esbuild itself has ended, it is no mistake in the module that was found.
    if (!errors || errors.some(({ text }) => text.startsWith('The service '))) throw error
    // Where something of the host may have been looked at, it makes no difference what was found.
    if (errors.some(isFromOutside)) return { messages: [{ text: WRITTEN_OUT }] }
    return { messages: errors.slice(0, MESSAGES_SHOWN).map(messageOf) }
  }
}

function fromCommit(entry: string, runtime: Runtime, ask: Ask): Plugin {
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
        const { file, problem } = await (kind === 'entry-point' ? ask(entry) : ask(path, importer))
        if (!file) return refuse(problem ?? `Could not resolve "${path}"`)
        if (file.contents) contents.set(file.path, file.contents)
        return { path: file.path, namespace: COMMIT }
      })
      // Whatever comes here without having been asked for is a file of the host.
      onLoad({ filter: /.*/ }, ({ path, namespace }) => {
        if (namespace !== COMMIT) throw new OutsideOfCommit()
        const loader = loaders.get(path.slice(path.lastIndexOf('.') + 1))
        const found = contents.get(path)
        if (!loader || !found)
          return { errors: [{ text: `${path} is neither TypeScript, JavaScript nor JSON` }] }
        return { contents: withoutForeignMaps(found), loader, resolveDir: DEEP_NOWHERE }
      })
    },
  }
}

/** A comment that names a source map makes esbuild look for it in the file system of the host. As long as before. */
function withoutForeignMaps(source: Uint8Array): Uint8Array | string {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  if (!bytes.includes('sourceMappingURL=')) return source
  return bytes.toString().replaceAll(/([#@]\s*sourceMapping)URL(?==(?!data:))/g, '$1Url')
}

/** With the paths of the commit as they are, without the name they had in the build. */
function inPaths(sourceMap: Uint8Array): Uint8Array {
  const map = JSON.parse(Buffer.from(sourceMap).toString()) as { sources: string[] }
  return Buffer.from(JSON.stringify({ ...map, sources: map.sources.map(withoutNamespace) }))
}

const withoutNamespace = (path: string) => path.replace(/^commit:/, '')

class OutsideOfCommit extends Error {}

const isPutTogether = ({ id, text }: Message): boolean =>
  id === 'empty-glob' ||
  /^Could not resolve (import|require)\(/.test(text) ||
  (id === 'unsupported-dynamic-import' && text.includes('argument is not a string literal'))

const isFromOutside = (message: Message): boolean =>
  message.detail instanceof OutsideOfCommit ||
  (isPutTogether(message) && message.text.includes('../'.repeat(400)))

function messageOf(message: Message): BuildMessage {
  const text = isPutTogether(message) ? WRITTEN_OUT : message.text.slice(0, MESSAGE_CHARACTERS)
  if (!message.location) return { text }
  const { file, line, column } = message.location
  // Columns are counted from zero there, and from one by people and editors.
  return { text, file: withoutNamespace(file), line, column: column + 1 }
}

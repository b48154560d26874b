import { createRecent } from '../platform/recent.ts'
import { findSources, type SourceMappings } from './source-positions.ts'

/** What is kept of maps that were read, in characters. */
const KEPT_CHARACTERS = 16 * 2 ** 20
/** What may be gone through for one run: to read a map takes time in proportion, in which nobody else is served. */
const RUN_CHARACTERS = 16 * 2 ** 20
const MOST_POSITIONS = 50

const IN_MODULE = /\bmodule\.js:(\d{1,9}):(\d{1,9})/g
/** Frames of what stands around the module. */
const AROUND = /\n +at [^\n]*\b(wrapper|porter)\.js:\d+:\d+\)?/g

interface Source {
  hash: string
  sourceMap: string | undefined
}

/** Puts the lines that an author wrote in the place of those of the bundle. */
export type ReadStack = (text: string) => string

export function createStackReaders() {
  const kept = createRecent<string, SourceMappings>({
    maxEntries: 100,
    weight: { of: ({ mappings }) => mappings.length, max: KEPT_CHARACTERS },
  })

  function mappingsOf({ hash, sourceMap = '' }: Source): SourceMappings | undefined {
    const known = kept.get(hash)
    if (known) return known
    const read = readMap(sourceMap)
    if (read) kept.set(hash, read)
    return read
  }

  /** For what one run says. */
  return (source: Source): ReadStack => {
    let left = RUN_CHARACTERS
    return (text) => {
      if (!text.includes('.js:')) return text
      const own = text.replaceAll(AROUND, '')
      const positions = [...own.matchAll(IN_MODULE)]
        .slice(0, MOST_POSITIONS)
        .map(([, line, column]) => ({ line: Number(line), column: Number(column) }))
      const map = positions.length > 0 && left > 0 ? mappingsOf(source) : undefined
      if (!map) return own
      left -= map.mappings.length
      const found = findSources(map, positions).values()
      return own.replaceAll(IN_MODULE, (position) => found.next().value ?? position)
    }
  }
}

function readMap(text: string): SourceMappings | undefined {
  try {
    const { sources, mappings } = JSON.parse(text) as SourceMappings
    return { sources, mappings }
  } catch {
    return undefined
  }
}

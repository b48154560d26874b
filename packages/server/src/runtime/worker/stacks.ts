import { SourceMap, type SourceMapPayload } from 'node:module'
import { createRecent } from '../../platform/recent.ts'

/** To read a map takes time in proportion. What is larger is told in the lines of the bundle. */
const MAP_CHARACTERS = 12 * 2 ** 20
const KEPT_MAPS = 8
/** Positions that are looked up in one text. */
const MOST_POSITIONS = 100

const IN_MODULE = /\bmodule\.js:(\d+):(\d+)/g
/** Frames of what stands around the module. */
const NOT_OURS = /\n +at [^\n]*\b(wrapper|porter)\.js:\d+:\d+\)?/g

interface Source {
  hash: string
  sourceMap: string | undefined
}

/** Puts the lines that an author wrote in the place of those of the bundle. */
export function createStackReader() {
  const maps = createRecent<string, SourceMap | null>({ maxEntries: KEPT_MAPS })

  function mapOf({ hash, sourceMap }: Source): SourceMap | null {
    const known = maps.get(hash)
    if (known !== undefined) return known
    const read = sourceMap === undefined || sourceMap.length > MAP_CHARACTERS ? null : readMap(sourceMap)
    maps.set(hash, read)
    return read
  }

  return function inAuthorsLines(text: string, source: Source): string {
    if (!text.includes('.js:')) return text
    const own = text.replaceAll(NOT_OURS, '')
    const map = own.includes('module.js:') ? mapOf(source) : null
    if (!map) return own
    let left = MOST_POSITIONS
    return own.replaceAll(IN_MODULE, (position, line: string, column: string) => {
      if (--left < 0) return position
      const found = map.findEntry(Number(line) - 1, Number(column) - 1)
      if (!('originalSource' in found) || found.originalSource === undefined) return position
      return `${found.originalSource}:${found.originalLine + 1}:${found.originalColumn + 1}`
    })
  }
}

function readMap(text: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(text) as SourceMapPayload)
  } catch {
    return null
  }
}

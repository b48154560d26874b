// The commands that a document shows: its fenced blocks of shell.

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

export interface Block {
  file: string
  /** Of its first line in the file. */
  line: number
  text: string
  /** Why it cannot be run here, as a comment above it says. */
  notRun: string | undefined
}

const SHELLS = ['sh', 'bash', 'console', 'shell']
const NOT_RUN = /^<!-- not run: (.+) -->$/

export function blocksIn(file: string): Block[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  const found: Block[] = []
  for (let i = 0; i < lines.length; i++) {
    const [, fence, language = ''] = /^(```+)(\S*)/.exec(lines[i] ?? '') ?? []
    if (!fence) continue
    const start = i + 1
    while (i + 1 < lines.length && !lines[i + 1]?.startsWith(fence)) i++
    const notRun = NOT_RUN.exec(lines[start - 2] ?? '')?.[1]
    if (SHELLS.includes(language))
      found.push({ file, line: start + 1, text: lines.slice(start, i + 1).join('\n'), notRun })
    i++
  }
  return found
}

/**
 * What a comment at the end of a command shows of its answer: `# {"id": "run_…"}`, perhaps after some words and a colon,
 * perhaps with words behind. An ellipsis stands for anything.
 */
export function shownIn(line: string): RegExp | undefined {
  const shown = / # (?:[^{"]*: )?([{"].*["}\]])/.exec(line)?.[1]
  if (!shown) return undefined
  const parts = withoutSpace(shown).split('…')
  return new RegExp(parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*?'))
}

/** Whether what a comment shows is there only after a while. */
export const isLater = (line: string): boolean => / # .*\b(later|once)\b/.test(line)

export const withoutSpace = (text: string): string => text.replaceAll(/\s+/g, '')

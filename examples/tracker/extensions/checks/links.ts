import { access } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import type { Problem } from '../../lib/rows.ts'

const LINK = /\]\(([^()\s]+)\)/g
/** Blocks and words of code, in which nothing is a link. */
const CODE = /^```[\s\S]*?^```|`[^`\n]*`/gm

/** Links of a Markdown file to files of the repository that are not there. */
export async function brokenLinks(file: string, text: string): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const [, link = ''] of text.replace(CODE, '').matchAll(LINK)) {
    const [path = ''] = link.split(/[?#]/)
    if (path === '' || /^([a-z][a-z0-9+.-]*:|\/)/i.test(link)) continue
    const target = normalize(join(dirname(file), path))
    if (target.startsWith('..')) continue
    if (!(await exists(target))) problems.push({ file, message: `${link} leads nowhere` })
  }
  return problems
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

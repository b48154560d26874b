import { Command } from '../../../ui/Code.tsx'
import styles from './Merge.module.css'
import type { Preview } from './MergePanel.tsx'

/** Git's words for what is in the way of a merge, as people say them. */
const KINDS: Record<string, string> = {
  contents: 'both changed the same lines',
  content: 'both changed the same lines',
  'modify/delete': 'one changed it, the other deleted it',
  'rename/delete': 'one renamed it, the other deleted it',
  'rename/rename': 'both renamed it, differently',
  'add/add': 'both added it, differently',
  'file/directory': 'a file here, a directory there',
  binary: 'both changed it, and it has no lines',
}

/** Branches may be called what a shell would act upon. */
const inShell = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** What conflicts, and how to go on. */
export function Conflicts({ preview, base, head }: { preview: Preview; base: string; head: string }) {
  return (
    <div className={styles.conflicts}>
      <ul aria-label="Conflicts">
        {preview.conflicts.map(({ path, kinds }) => (
          <li key={path}>
            <code>{path}</code>
            <span>{kinds.map((kind) => KINDS[kind] ?? kind).join(', ')}</span>
          </li>
        ))}
      </ul>
      {preview.conflictsTruncated && <p>There are more than are listed.</p>}
      <details>
        <summary>Settle it on your machine</summary>
        <p>In a clone of this repository:</p>
        <Command>
          {[
            'git fetch origin',
            `git switch ${inShell(head)}`,
            `git merge --ff-only ${inShell(`origin/${head}`)}`,
            `git merge ${inShell(`origin/${base}`)}`,
            '# settle what conflicts, then',
            'git add --all && git commit --no-edit',
            `git push origin ${inShell(head)}`,
          ].join('\n')}
        </Command>
      </details>
    </div>
  )
}

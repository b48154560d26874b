import { useRepo } from '../../../shell/places.ts'
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

/** What conflicts, and how to go on. */
export function Conflicts({ preview, base, head }: { preview: Preview; base: string; head: string }) {
  const { repo } = useRepo()
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
        <Command>
          {[
            `git fetch ${repo.remote ?? 'origin'} ${base} ${head}`,
            `git switch ${head}`,
            `git merge ${base}`,
            '# settle what conflicts, then',
            'git add --all && git commit',
            `git push ${repo.remote ?? 'origin'} ${head}`,
          ].join('\n')}
        </Command>
      </details>
    </div>
  )
}

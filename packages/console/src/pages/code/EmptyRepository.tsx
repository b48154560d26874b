import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { refresh } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Command } from '../../ui/Code.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { overviewQuery } from './addresses.ts'

/** So often the page looks whether something has been pushed. */
const LOOK_MS = 3_000

/** Whoever pushes has this page beside the terminal: what it shows then comes by itself. */
function useFirstPush(): void {
  const { org, name } = useRepo()
  useQuery({ ...overviewQuery(org, name), refetchInterval: LOOK_MS, throwOnError: false })
  useEffect(() => () => void refresh(org, 'repos/'), [org])
}

/** Nothing has been pushed: the lines that change it, ready to paste. */
export function EmptyRepository() {
  const { org, repo } = useRepo()
  const remote = repo.remote ?? ''
  useFirstPush()
  if (!repo.canWrite)
    return (
      <EmptyState title="Nothing has been pushed yet">
        <p>You can read this repository, not push to it. Ask an admin of the organization for more.</p>
      </EmptyState>
    )
  return (
    <EmptyState title="Nothing has been pushed yet">
      <p>From a repository you have:</p>
      <Command>{`git remote add origin ${remote}\ngit push -u origin HEAD:${repo.defaultBranch}`}</Command>
      <p>Or from nothing:</p>
      <Command>
        {[
          `git clone ${remote}`,
          `cd ${repo.name}`,
          `echo "# ${repo.name}" > README.md`,
          'git add README.md',
          'git commit -m "Say what this is"',
          `git push -u origin HEAD:${repo.defaultBranch}`,
        ].join('\n')}
      </Command>
      <p>
        When git asks for a password, give it <Link to="/account/keys">a key of yours</Link> or{' '}
        <Link to="/o/$org/$repo/access" params={{ org, repo: repo.name }}>
          a token of this repository
        </Link>
        ; the user name does not matter.
      </p>
    </EmptyState>
  )
}

import { useRepo } from '../../shell/places.ts'
import { Command } from '../../ui/Code.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'

/** Nothing has been pushed: the lines that change it, ready to paste. */
export function EmptyRepository() {
  const { repo } = useRepo()
  const remote = repo.remote ?? ''
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
        When git asks for a password, give it a key of yours or a token of this repository; the user name does
        not matter.
      </p>
    </EmptyState>
  )
}

import { Link, useParams } from '@tanstack/react-router'
import { isApiError, isNotThere } from '../../api/errors.ts'
import { NothingHere } from '../../shell/Layouts.tsx'
import { Command } from '../../ui/Code.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page } from '../../ui/Page.tsx'
import { PageProblem } from '../../ui/Problem.tsx'

/** In the place of a commit that is not there: it was never pushed, or nothing leads to it any more. */
export function CommitProblem({ error }: { error: unknown }) {
  const { org = '', repo = '', oid = '' } = useParams({ strict: false })
  if (!isApiError(error, 'GIT_OBJECT_NOT_FOUND'))
    return isNotThere(error) ? <NothingHere /> : <PageProblem error={error} />
  const isPart = /^[0-9a-f]{1,39}$/i.test(oid)
  return (
    <Page title={`${org}/${repo}`}>
      <h1 className="heard">{repo}</h1>
      <EmptyState title={isPart ? 'This is only a part of an id' : 'There is no such commit'}>
        {isPart ? (
          <>
            <p>
              A commit is found by its whole id, of 40 letters and digits. Where you have the repository, git
              says which one begins with <code>{oid}</code>:
            </p>
            <Command>{`git rev-parse ${oid}`}</Command>
          </>
        ) : (
          <p>
            <code>{oid}</code> was never pushed here, or its branch was deleted and it went with it.
          </p>
        )}
        <p>
          <Link to="/o/$org/$repo/branches" params={{ org, repo }}>
            See what branches there are
          </Link>
        </p>
      </EmptyState>
    </Page>
  )
}

import { Link, useParams } from '@tanstack/react-router'
import { isApiError, isNotThere } from '../../api/errors.ts'
import { NothingHere } from '../../shell/Layouts.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page } from '../../ui/Page.tsx'
import { PageProblem } from '../../ui/Problem.tsx'

/** In the place of a commit that is not there: it was never pushed, or nothing leads to it any more. */
export function CommitProblem({ error }: { error: unknown }) {
  const { org = '', repo = '', oid = '' } = useParams({ strict: false })
  if (!isApiError(error, 'GIT_OBJECT_NOT_FOUND'))
    return isNotThere(error) ? <NothingHere /> : <PageProblem error={error} />
  return (
    <Page title={`${org}/${repo}`}>
      <h1 className="heard">{repo}</h1>
      <EmptyState title="There is no such commit">
        <p>
          <code>{oid}</code> was never pushed here, or its branch was deleted and it went with it.
        </p>
        <p>
          <Link to="/o/$org/$repo/branches" params={{ org, repo }}>
            See what branches there are
          </Link>
        </p>
      </EmptyState>
    </Page>
  )
}

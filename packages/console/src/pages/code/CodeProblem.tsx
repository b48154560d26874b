import { Link, useParams } from '@tanstack/react-router'
import { isApiError, isNotThere } from '../../api/errors.ts'
import { NothingHere } from '../../shell/Layouts.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page } from '../../ui/Page.tsx'
import { PageProblem } from '../../ui/Problem.tsx'

/** In the place of a code page that cannot be shown: most often its branch is gone. */
export function CodeProblem({ error }: { error: unknown }) {
  const { org = '', repo = '', _splat = '' } = useParams({ strict: false })
  if (!isApiError(error, 'GIT_OBJECT_NOT_FOUND'))
    return isNotThere(error) ? <NothingHere /> : <PageProblem error={error} />
  return (
    <Page title={`${org}/${repo}`}>
      <h1 className="heard">{repo}</h1>
      <EmptyState title="There is no such branch, tag or commit">
        <p>
          Nothing that <code>{_splat}</code> begins with is a ref of this repository. A branch may have been
          merged and deleted since.
        </p>
        <p>
          <Link to="/o/$org/$repo" params={{ org, repo }}>
            Go to the default branch
          </Link>
        </p>
      </EmptyState>
    </Page>
  )
}

import { useQuery } from '@tanstack/react-query'
import { isApiError } from '../../api/errors.ts'
import { query } from '../../api/queries.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { PageProblem } from '../../ui/Problem.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { HowItIs } from './HowItIs.tsx'
import { Users } from './Users.tsx'

/** For whoever owns the server: how it is, and who has an account. It changes nothing; that takes the commands. */
export function AdminPage() {
  const { data, error } = useQuery({
    ...query(undefined, (api) => api.admin.overview, {}),
    refetchInterval: 10_000,
    throwOnError: false,
  })
  if (error && !isApiError(error, 'FORBIDDEN')) return <PageProblem error={error} />
  return (
    <Page title="This server">
      <PageHeader
        title="This server"
        about={data && 'This page only shows. To change something there are the commands of npm run admin.'}
      />
      {error ? (
        <EmptyState title="This is not yours to see">
          <p>
            It is for whoever owns the server: the account that was made when it was started for the first
            time.
          </p>
        </EmptyState>
      ) : data ? (
        <>
          <HowItIs server={data} />
          <Users total={data.counts.users} />
        </>
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

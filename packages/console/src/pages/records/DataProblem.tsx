import { Link, useParams } from '@tanstack/react-router'
import { isApiError, isNotThere } from '../../api/errors.ts'
import { NothingHere } from '../../shell/Layouts.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { PageProblem } from '../../ui/Problem.tsx'

/** In the place of a page of records or webhooks that could not be shown. */
export function DataProblem({ error }: { error: unknown }) {
  const { org = '', repo = '' } = useParams({ strict: false })
  const missing = missingWords(error)
  if (!missing) return isNotThere(error) ? <NothingHere /> : <PageProblem error={error} />
  return (
    <Page title={missing.title}>
      <PageHeader title={missing.title} about={missing.about} />
      <p>
        <Link to={missing.to} params={{ org, repo }}>
          {missing.link}
        </Link>
      </p>
    </Page>
  )
}

const RECORDS = { to: '/o/$org/$repo/records', link: 'Records in force' } as const
const WEBHOOKS = { to: '/o/$org/$repo/webhooks', link: 'All webhooks' } as const
const REPO = { to: '/o/$org/$repo', link: 'To the repository' } as const

function missingWords(error: unknown) {
  if (isApiError(error, 'RECORD_NOT_FOUND'))
    return {
      title: 'There is no such row',
      about: 'It may have been deleted, or the address is mistyped.',
      ...RECORDS,
    }
  if (isApiError(error, 'RECORD_SCHEMA_NOT_FOUND'))
    return {
      title: 'No record of that name is in force',
      about: 'A promotion may have taken it out.',
      ...RECORDS,
    }
  if (isApiError(error, 'WEBHOOK_NOT_FOUND'))
    return { title: 'There is no such webhook', about: 'It may have been deleted or renamed.', ...WEBHOOKS }
  if (isApiError(error, 'WEBHOOK_DELIVERY_NOT_FOUND'))
    return {
      title: 'There is no such delivery',
      about: 'Deliveries are kept for some time, then they go; and all of them go with their webhook.',
      ...WEBHOOKS,
    }
  if (isApiError(error, 'FEATURE_UNAVAILABLE'))
    return {
      title: error.data.feature === 'webhooks' ? 'Webhooks are off' : 'Records are off',
      about: 'This server has them switched off. Whoever runs it can turn them on.',
      ...REPO,
    }
  return undefined
}

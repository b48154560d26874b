import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { organizationsQuery } from '../../api/session.ts'
import { useActingOrg } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
import { EmptyRepositoryForm } from './EmptyRepositoryForm.tsx'
import { ImportForm } from './ImportForm.tsx'

const WAYS = [
  { value: 'empty', label: 'Empty' },
  { value: 'import', label: 'Import' },
] as const

/** A new repository: an empty one, or one from elsewhere. */
export function NewPage() {
  const acting = useActingOrg()
  const { org: wanted, way = 'empty' } = useSearch({ from: '/new' })
  const navigate = useNavigate()
  const { data } = useSuspenseQuery(organizationsQuery)
  const orgs = data.items.map(({ slug }) => slug)
  const org = orgs.find((slug) => slug === wanted) ?? acting
  const choose = (change: { org?: string; way?: 'empty' | 'import' }) =>
    void navigate({ to: '/new', search: { org, way, ...change }, replace: true })
  const place = { org, orgs, onOrg: (org: string) => choose({ org }) }
  return (
    <Page title="New repository">
      <PageHeader
        title="New repository"
        about={
          way === 'import'
            ? 'Brings all branches and tags of a repository from elsewhere, over HTTPS. It is a copy from then on.'
            : 'Starts with nothing in it. Push to it, or let an agent do so.'
        }
      />
      <div>
        <Tabs label="What to start with" value={way} options={WAYS} onChoose={(way) => choose({ way })} />
      </div>
      {way === 'import' ? <ImportForm key={org} {...place} /> : <EmptyRepositoryForm {...place} />}
    </Page>
  )
}

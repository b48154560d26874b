import { Link } from '@tanstack/react-router'
import { useOrg } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Agents } from './Agents.tsx'

export function AgentsPage() {
  const { org, organization } = useOrg()
  return (
    <Page title={`Agents · ${organization.name}`}>
      <PageHeader
        title="Agents"
        about={
          <>
            {organization.role === 'member'
              ? 'Those you have claimed that came with this organization.'
              : 'Those that came with this organization, whoever claimed them.'}{' '}
            <Link to="/account/agents">All you have claimed</Link>
          </>
        }
      />
      <Agents of={{ org, role: organization.role }} />
    </Page>
  )
}

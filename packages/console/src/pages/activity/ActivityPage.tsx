import { useOrg, useRepo } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { Charts } from './Charts.tsx'
import { EventLog } from './EventLog.tsx'

/** What happened in a repository. */
export function RepoActivityPage() {
  const { org, name } = useRepo()
  return (
    <Page title={`Activity · ${org}/${name}`}>
      <PageHeader
        title="Activity"
        about="Everything that happened here, as it is kept and as webhooks hear of it."
      />
      <Charts org={org} repo={name} />
      <EventLog org={org} repo={name} />
    </Page>
  )
}

/** What happened in an organization: people, keys, agents. */
export function OrgActivityPage() {
  const { org, organization } = useOrg()
  return (
    <Page title={`Activity · ${organization.name}`}>
      <PageHeader
        title="Activity"
        about="Members, keys, agents and settings. What happens in a repository is in its own log."
      />
      <EventLog org={org} />
    </Page>
  )
}

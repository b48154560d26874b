import { useOrg } from '../../shell/places.ts'
import { Page } from '../../ui/Page.tsx'
import { Repositories } from './Repositories.tsx'

export function RepositoriesPage() {
  const { org, organization } = useOrg()
  return (
    <Page title={organization.name}>
      <h1 className="heard">Repositories</h1>
      <Repositories org={org} />
    </Page>
  )
}

import { Link } from '@tanstack/react-router'
import { useRepo } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'

/** Nothing of that name is in force; it may have been. */
export function NoSuchRecord({ record }: { record: string }) {
  const { org, name } = useRepo()
  return (
    <Page title={`${record} · ${org}/${name}`}>
      <PageHeader
        title={`No record called ${record} is in force`}
        about="A record comes into force when a commit that declares it is promoted. Rows of one that went are kept, out of sight, until it is declared again."
      />
      <p>
        <Link to="/o/$org/$repo/records" params={{ org, repo: name }}>
          Records in force
        </Link>
      </p>
    </Page>
  )
}

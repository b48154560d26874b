import { useActingOrg } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'
import styles from './Home.module.css'
import { Latest } from './Latest.tsx'
import { Repositories } from './Repositories.tsx'

/** Where everybody begins: the repositories they work in, and what happened lately. */
export function HomePage() {
  const org = useActingOrg()
  return (
    <Page title="Home">
      <PageHeader title="Repositories" />
      <div className={styles.columns}>
        <Repositories org={org} />
        <Latest org={org} />
      </div>
    </Page>
  )
}

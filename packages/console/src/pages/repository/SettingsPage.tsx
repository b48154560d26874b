import { useRepo } from '../../shell/places.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { DangerZone } from './DangerZone.tsx'
import { GeneralSettings } from './GeneralSettings.tsx'
import styles from './Repository.module.css'
import { Rules } from './rules/Rules.tsx'

/** What admins decide about a repository. */
export function SettingsPage() {
  const { org, name, repo } = useRepo()
  return (
    <Page title={`Settings · ${org}/${name}`}>
      <PageHeader title="Settings">
        <LinkButton to="/o/$org/$repo/fork" params={{ org, repo: name }} icon="branch">
          Fork
        </LinkButton>
      </PageHeader>
      {repo.canAdmin ? (
        <div className={styles.settings}>
          <GeneralSettings key={`${name} ${repo.defaultBranch}`} />
          <Rules />
          <DangerZone />
        </div>
      ) : (
        <EmptyState title="Only admins change this repository">
          <p>{`Ask an owner or admin of ${org} if something about ${name} has to be different.`}</p>
        </EmptyState>
      )}
    </Page>
  )
}

import { useSuspenseQuery } from '@tanstack/react-query'
import type { CommitSummary, RepoOverview } from '@trellis/contract'
import { useRepo } from '../../shell/places.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Page } from '../../ui/Page.tsx'
import { overviewQuery } from './addresses.ts'
import { Box, Toolbar } from './Box.tsx'
import { CloneMenu } from './CloneMenu.tsx'
import styles from './CodePage.module.css'
import { CommitLine } from './CommitLine.tsx'
import { Directory, useDirectory } from './Directory.tsx'
import { EmptyRepository } from './EmptyRepository.tsx'
import { FindFile } from './FindFile.tsx'
import { Readme } from './Readme.tsx'
import { RefPicker } from './RefPicker.tsx'
import { SidePanel } from './SidePanel.tsx'

/** The front of a repository. */
export function CodePage() {
  const { org, name, repo } = useRepo()
  const { data: overview } = useSuspenseQuery(overviewQuery(org, name))
  return (
    <Page title={`${org}/${name}`}>
      <h1 className="heard">{name}</h1>
      {overview.head ? (
        <Front overview={overview} head={overview.head} />
      ) : overview.branches > 0 ? (
        <NoDefaultBranch branch={repo.defaultBranch} />
      ) : (
        <EmptyRepository />
      )}
    </Page>
  )
}

function Front({ overview, head }: { overview: RepoOverview; head: CommitSummary }) {
  const { org, name, repo } = useRepo()
  const at = { org, name, ref: repo.defaultBranch, type: 'branch', commit: head.oid, path: '' }
  const list = useDirectory(at)
  return (
    <>
      <Toolbar
        actions={
          <>
            <LinkButton to="/o/$org/$repo/fork" params={{ org, repo: name }} icon="branch">
              Fork
            </LinkButton>
            <FindFile at={at} />
            <CloneMenu gitRef={at.ref} />
          </>
        }
      >
        <RefPicker to="/o/$org/$repo/tree/$" at={at} />
      </Toolbar>
      <div className={styles.columns}>
        <div className={styles.main}>
          <Box head={<CommitLine commit={head} at={at} />}>
            <Directory at={at} list={list} />
          </Box>
          <Readme at={at} rows={list.rows} />
        </div>
        <SidePanel overview={overview} />
      </div>
    </>
  )
}

/** Something was pushed, but not to the branch that is shown first. */
function NoDefaultBranch({ branch }: { branch: string }) {
  return (
    <>
      <Toolbar actions={<CloneMenu gitRef={undefined} />}>
        <RefPicker to="/o/$org/$repo/tree/$" at={{ ref: branch, type: 'branch', path: '' }} />
      </Toolbar>
      <EmptyState title={`The default branch ${branch} does not exist yet`}>
        <p>Choose another branch above, or push to this one. The settings say which branch is the default.</p>
      </EmptyState>
    </>
  )
}

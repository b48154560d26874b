import { Link } from '@tanstack/react-router'
import { useRepo } from '../../shell/places.ts'
import { Facts } from '../../ui/Facts.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { Invites } from './Invites.tsx'
import { Tokens } from './Tokens.tsx'

/** Who may do what with the repository, by role and by what was handed out. */
export function AccessPage() {
  const { org, name, repo } = useRepo()
  return (
    <Page title={`Access · ${org}/${name}`}>
      <PageHeader
        title="Access"
        about={
          <>
            The{' '}
            <Link to="/o/$org/~/people" params={{ org }}>
              people of {org}
            </Link>{' '}
            see this repository, and whoever holds one of its tokens or invites. Nobody else can tell that it
            is there.
          </>
        }
      />
      <Section title="By role">
        <Facts of={ROLES} />
      </Section>
      {repo.canAdmin ? (
        <>
          <Tokens />
          <Invites />
        </>
      ) : (
        <p>Its tokens and invites are for admins and owners of {org} to see.</p>
      )}
    </Page>
  )
}

const ROLES = [
  ['member', 'reads, pushes, runs what the repository declares'],
  ['admin', 'also makes tokens and invites, sets rules and secrets, changes and deletes the repository'],
  ['owner', 'everything, also what concerns the organization itself'],
] as const

import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ExtensionEntry } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { BuildErrors } from './BuildErrors.tsx'
import { ExtensionsTable } from './ExtensionsTable.tsx'
import { FirstExtension } from './FirstExtension.tsx'
import { CommitLink } from './links.tsx'
import styles from './Programs.module.css'
import { RuntimeAdvice } from './ProgramsProblem.tsx'
import { RefSelect } from './RefSelect.tsx'
import { Secrets } from './Secrets.tsx'

/** The extensions at a ref, beside what is in force. */
export function ExtensionsPage() {
  const { org, name, repo } = useRepo()
  const { ref } = useSearch({ strict: false }) as { ref?: string }
  const { data } = useSuspenseQuery(query(org, (api) => api.extensions.list, { name, ...(ref && { ref }) }))
  const { items, errors, commitSha, canonicalCommitSha } = data
  const isCanonical = commitSha !== null && commitSha === canonicalCommitSha
  /** A branch that is where the canonical ref is shows the same. */
  const isSame = isCanonical && data.ref !== data.canonicalRef
  const { data: inForce } = useQuery({
    ...query(org, (api) => api.extensions.list, { name, ref: data.canonicalRef }),
    enabled: canonicalCommitSha !== null && !isCanonical,
  })
  const off = [...new Set(items.flatMap((one) => (isOff(one) ? one.runtime : [])))]
  const hasNothing = items.length === 0 && errors.length === 0 && !inForce?.items.length
  return (
    <Page title={`Extensions · ${org}/${name}`}>
      <PageHeader
        title="Extensions"
        about="Programs that live in this repository. What is promoted is in force; everything else waits."
      >
        {commitSha && (
          <RefSelect
            key={data.ref}
            current={data.ref}
            canonicalRef={canonicalCommitSha === null || isSame ? undefined : data.canonicalRef}
          />
        )}
        {commitSha && repo.canAdmin && !isCanonical && (
          <LinkButton
            kind={hasNothing ? 'second' : 'first'}
            to="/o/$org/$repo/promote"
            params={{ org, repo: name }}
            search={{ ref: data.ref }}
          >
            Promote…
          </LinkButton>
        )}
      </PageHeader>
      {commitSha && (
        <p className={styles.quiet}>
          <code>{data.ref}</code> is at <CommitLink org={org} repo={name} oid={commitSha} />.{' '}
          {canonicalCommitSha === null ? (
            'Nothing has been promoted yet, so nothing is in force.'
          ) : isCanonical ? (
            'That is what is in force.'
          ) : (
            <>
              In force is <CommitLink org={org} repo={name} oid={canonicalCommitSha} />.
            </>
          )}
        </p>
      )}
      {errors.length > 0 && <BuildErrors org={org} repo={name} at={commitSha ?? data.ref} errors={errors} />}
      {off.map((runtime) => (
        <div key={runtime} className={styles.new}>
          <strong>{`The ${runtime} runtime is off.`}</strong> What needs it can be promoted, and does not run.
          <RuntimeAdvice runtime={runtime} />
        </div>
      ))}
      {hasNothing ? (
        <FirstExtension repo={repo} isEmpty={commitSha === null} />
      ) : (
        <ExtensionsTable
          org={org}
          name={name}
          ref_={ref}
          items={items}
          inForce={inForce?.items ?? []}
          canonicalRef={data.canonicalRef}
          daemons={data.daemons}
        />
      )}
      {repo.canAdmin && (
        <Section title="Secrets">
          <Secrets org={org} name={name} extensions={items} />
        </Section>
      )}
    </Page>
  )
}

/** It could be run on request if its runtime were there. */
const isOff = ({ dispatch, dispatchable }: ExtensionEntry): boolean => dispatch && !dispatchable

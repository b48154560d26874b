import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ExtensionEntry } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { Tag } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { BuildErrors } from './BuildErrors.tsx'
import { Capabilities, newPowers } from './Capabilities.tsx'
import { FirstExtension } from './FirstExtension.tsx'
import { CommitLink } from './links.tsx'
import styles from './Programs.module.css'
import { RuntimeAdvice } from './ProgramsProblem.tsx'
import { RefSelect } from './RefSelect.tsx'
import { Secrets } from './Secrets.tsx'
import { everyWords, triggerWords } from './words.ts'

/** The extensions at a ref, beside what is in force. */
export function ExtensionsPage() {
  const { org, name, repo } = useRepo()
  const { ref } = useSearch({ strict: false }) as { ref?: string }
  const { data } = useSuspenseQuery(query(org, (api) => api.extensions.list, { name, ...(ref && { ref }) }))
  const { items, errors, commitSha, canonicalCommitSha, daemons } = data
  const isCanonical = commitSha !== null && commitSha === canonicalCommitSha
  const off = [...new Set(items.flatMap((one) => (isOff(one) ? one.runtime : [])))]
  const hasNothing = items.length === 0 && errors.length === 0
  return (
    <Page title={`Extensions · ${org}/${name}`}>
      <PageHeader
        title="Extensions"
        about="Programs that live in this repository. What is promoted is in force; everything else waits."
      >
        {commitSha && <RefSelect org={org} name={name} current={data.ref} canonicalRef={data.canonicalRef} />}
        {commitSha && repo.canAdmin && !isCanonical && !hasNothing && (
          <LinkButton
            kind="first"
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
        <Table
          label="Extensions"
          columns={[
            { head: 'Name', kind: 'wide' },
            'Runtime',
            'Started by',
            'May do',
            { head: 'State', kind: 'narrow' },
          ]}
        >
          {items.map((entry) => (
            <tr key={entry.name}>
              <td>
                <Link
                  to="/o/$org/$repo/extensions/$name"
                  params={{ org, repo: name, name: entry.name }}
                  search={ref ? { ref } : {}}
                >
                  {entry.name}
                </Link>
                {entry.description && <div className={styles.small}>{entry.description}</div>}
              </td>
              <td>{entry.runtime}</td>
              <td className={styles.roomy}>
                <StartedBy
                  entry={entry}
                  every={daemons.find((one) => one.name === entry.name)?.scheduleIntervalMinutes}
                />
              </td>
              <td className={styles.roomy}>
                <Capabilities entry={entry} />
              </td>
              <td className={styles.nowrap}>
                <State entry={entry} />
              </td>
            </tr>
          ))}
        </Table>
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

function StartedBy({ entry, every }: { entry: ExtensionEntry; every: number | undefined }) {
  const { hooks } = entry.record ?? {}
  const words = [
    ...(entry.dispatch ? ['request'] : []),
    ...triggerWords(entry.on),
    ...(hooks?.onCreate ? [`new ${entry.record?.name}`] : []),
    ...(hooks?.onTransition ? [`${entry.record?.name} that moves on`] : []),
    ...(every ? [everyWords(every)] : []),
  ]
  if (words.length === 0) return <span className={styles.dim}>nothing</span>
  return words.map((word) => <div key={word}>{word}</div>)
}

export function State({ entry }: { entry: ExtensionEntry }) {
  const powers = newPowers(entry)
  return (
    <span className={styles.chips}>
      {entry.canonical ? <Tag tone="good">canonical</Tag> : <Tag>ahead</Tag>}
      {entry.schemaAhead && <Tag>schema ahead</Tag>}
      {powers.length > 0 && <Tag tone="warned">{`${powers.length} not granted`}</Tag>}
    </span>
  )
}

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Daemon, ExtensionEntry } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { Tag } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { Capabilities, newPowers } from './Capabilities.tsx'
import styles from './Programs.module.css'
import { daemonMinutes, everyWords, triggerWords } from './words.ts'

interface ExtensionsTableProps {
  org: string
  name: string
  /** The ref they are at. */
  ref_: string | undefined
  items: readonly ExtensionEntry[]
  /** Those in force, where that is another commit. */
  inForce: readonly ExtensionEntry[]
  canonicalRef: string
  daemons: readonly Daemon[]
}

/** Extensions at a ref; and those in force that are not there any more. */
export function ExtensionsTable(props: ExtensionsTableProps) {
  const { org, name, ref_, items, inForce, canonicalRef, daemons } = props
  const gone = inForce.filter((one) => !items.some((item) => item.name === one.name))
  const row = (entry: ExtensionEntry, isGone: boolean) => (
    <tr key={entry.name}>
      <td className={styles.roomy}>
        <Link
          to="/o/$org/$repo/extensions/$name"
          params={{ org, repo: name, name: entry.name }}
          search={isGone ? { ref: canonicalRef } : ref_ ? { ref: ref_ } : {}}
        >
          {entry.name}
        </Link>
        {entry.description && <div className={styles.small}>{entry.description}</div>}
      </td>
      <td>{entry.runtime}</td>
      <td className={styles.roomy}>
        <StartedBy
          org={org}
          name={name}
          ref_={isGone ? canonicalRef : ref_}
          entry={entry}
          every={daemons.find((one) => one.name === entry.name)?.scheduleIntervalMinutes}
        />
      </td>
      <td className={styles.roomy}>
        <Capabilities entry={entry} />
      </td>
      <td>
        {isGone ? (
          <Tag tone="warned">in force, not here</Tag>
        ) : (
          <State entry={entry} inForce={inForce.find((one) => one.name === entry.name)} />
        )}
      </td>
    </tr>
  )
  return (
    <Table
      label="Extensions"
      columns={[{ head: 'Name', kind: 'wide' }, 'Runtime', 'Started by', 'May do', 'State']}
    >
      {items.map((entry) => row(entry, false))}
      {gone.map((entry) => row(entry, true))}
    </Table>
  )
}

interface StartedByProps {
  org: string
  name: string
  ref_: string | undefined
  entry: ExtensionEntry
  every: number | undefined
}

function StartedBy({ org, name, ref_, entry, every }: StartedByProps) {
  const { hooks } = entry.record ?? {}
  const words = [
    ...(entry.dispatch ? ['request'] : []),
    ...triggerWords(entry.on),
    ...(hooks?.onCreate ? [`new ${entry.record?.name}`] : []),
    ...(hooks?.onTransition ? [`${entry.record?.name} that moves on`] : []),
    ...(every ? [everyWords(every)] : []),
  ]
  if (words.length === 0) return <StartedByItself at={{ org, name, ref_ }} extension={entry.name} />
  return words.map((word) => <div key={word}>{word}</div>)
}

/** What only its own descriptor tells: a daemon has no time to wake before it is promoted. */
function StartedByItself({
  at: { org, name, ref_ },
  extension,
}: {
  at: { org: string; name: string; ref_: string | undefined }
  extension: string
}) {
  const { data } = useQuery({
    ...query(org, (api) => api.extensions.get, { name, extension, ...(ref_ && { ref: ref_ }) }),
    throwOnError: false,
  })
  const every = data && daemonMinutes(data)
  return every ? everyWords(every) : <span className={styles.dim}>{data && 'nothing'}</span>
}

/** How it stands to what is in force under its name. */
export function State({ entry, inForce }: { entry: ExtensionEntry; inForce?: ExtensionEntry | undefined }) {
  const powers = newPowers(entry)
  const isNew = entry.canonicalDescriptorHash === null
  const hasOtherCode = inForce && inForce.moduleHash !== entry.moduleHash
  const isDescribedAnew = !isNew && entry.canonicalDescriptorHash !== entry.descriptorHash
  return (
    <span className={styles.chips}>
      {entry.canonical ? <Tag tone="good">canonical</Tag> : <Tag>{isNew ? 'not promoted' : 'ahead'}</Tag>}
      {hasOtherCode && <Tag>other code</Tag>}
      {isDescribedAnew && <Tag>other descriptor</Tag>}
      {!isNew && entry.schemaAhead && <Tag>other schema</Tag>}
      {powers.length > 0 && <Tag tone="warned">{`${powers.length} not granted`}</Tag>}
    </span>
  )
}

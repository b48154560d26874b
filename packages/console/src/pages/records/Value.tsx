import { Link } from '@tanstack/react-router'
import { useRepo } from '../../shell/places.ts'
import { Icon } from '../../ui/Icon.tsx'
import styles from './Records.module.css'
import type { Field } from './schema.ts'
import { asMoment, shortId, summary } from './values.ts'

/** A value in a line, as its type has it. */
export function Value({ field, value }: { field: Field; value: unknown }) {
  if (value === null || value === undefined)
    return (
      <span className={styles.none}>
        <span aria-hidden="true">–</span>
        <span className="heard">no value</span>
      </span>
    )
  switch (field.type) {
    case 'boolean':
      return (
        <span className={styles.flag}>
          {value === true && <Icon name="check" />}
          {value === true ? 'true' : 'false'}
        </span>
      )
    case 'enum':
      return <span className={styles.choice}>{String(value)}</span>
    case 'timestamp':
      return <Moment at={Number(value)} />
    case 'ref':
      return <RefLink record={field.record ?? ''} id={String(value)} />
    case 'json':
      return <span className={styles.summary}>{summary(value)}</span>
    default:
      return String(value)
  }
}

const Moment = ({ at }: { at: number }) => {
  const time = new Date(at)
  // What is beyond the calendar is a number still.
  if (Number.isNaN(time.getTime())) return <>{at}</>
  return (
    <time dateTime={time.toISOString()} title={time.toISOString()}>
      {asMoment(at)}
    </time>
  )
}

function RefLink({ record, id }: { record: string; id: string }) {
  const { org, name } = useRepo()
  return (
    <Link
      to="/o/$org/$repo/records/$record/$id"
      params={{ org, repo: name, record, id }}
      className={styles.ref}
      title={`${record} ${id}`}
    >
      {shortId(id)}
    </Link>
  )
}

import { Link } from '@tanstack/react-router'
import type { Run } from '@trellis/contract'
import { Status } from '../../ui/Status.tsx'
import { Table } from '../../ui/Table.tsx'
import { Duration, TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Programs.module.css'
import { Who } from './Who.tsx'
import { causeWords } from './words.ts'

interface RunsTableProps {
  org: string
  name: string
  runs: readonly Run[]
  /** Where all of them are of one. */
  withoutExtension?: boolean
}

export function RunsTable({ org, name, runs, withoutExtension = false }: RunsTableProps) {
  const columns = [
    { head: 'Status', kind: 'narrow' as const },
    ...(withoutExtension ? [] : ['Extension']),
    'Trigger',
    { head: 'Cause', kind: 'wide' as const },
    'By',
    { head: 'Took', kind: 'number' as const },
    { head: 'Begun', kind: 'number' as const },
  ]
  return (
    <Table label="Runs" columns={columns}>
      {runs.map((run) => (
        <tr key={run.id}>
          <td>
            <Link
              to="/o/$org/$repo/runs/$id"
              params={{ org, repo: name, id: run.id }}
              data-row
              className={styles.status}
              aria-label={`${run.status}: ${run.id}`}
            >
              <Status kind={run.status} />
            </Link>
          </td>
          {!withoutExtension && (
            <td>
              <Link to="/o/$org/$repo/runs/$id" params={{ org, repo: name, id: run.id }}>
                {run.extension}
              </Link>
            </td>
          )}
          <td>{run.trigger}</td>
          <td>
            {causeWords(run)} {run.after && <code className={styles.dim}>{run.after.slice(0, 7)}</code>}
          </td>
          <td className={styles.nowrap}>
            <Who org={org} actor={run.actor} />
          </td>
          <td className={styles.number}>
            {run.startedAt !== null && run.endedAt !== null && <Duration ms={run.endedAt - run.startedAt} />}
          </td>
          <td className={styles.number}>
            <TimeAgo at={run.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

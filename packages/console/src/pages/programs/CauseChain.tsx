import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { LogEvent, Run } from '@trellis/contract'
import { Fragment, type ReactNode } from 'react'
import { query } from '../../api/queries.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Status } from '../../ui/Status.tsx'
import styles from './Run.module.css'
import { Who } from './Who.tsx'
import { causeType, causeWords } from './words.ts'

interface CauseChainProps {
  org: string
  run: Run
  /** The first of its log: it knows what came before. */
  first: LogEvent | undefined
}

/** Where it all began, and by which runs it came to this one: each a link. */
export function CauseChain({ org, run, first }: CauseChainProps) {
  const ids = (first?.cause?.chain ?? []).filter((id) => id !== run.id)
  const found = useQueries({
    queries: ids.map((id) => ({
      ...query(org, (api) => api.runs.get, { id }),
      // One that was kept long enough is gone.
      throwOnError: false,
      retry: false,
    })),
  })
  const before = found.flatMap(({ data }) => data?.run ?? [])
  const all = [...before, run]
  const [root = run] = all
  const isWhole = before.length === ids.length
  return (
    <nav aria-label="Cause" className={styles.chain}>
      <ol>
        <Node>
          <Icon name={root.actor.kind === 'agent' ? 'agent' : 'person'} />
          <Who org={org} actor={root.actor} />
        </Node>
        {!isWhole && found.every(({ isPending }) => !isPending) && (
          <Node>{ids.length - before.length} earlier, not kept any more</Node>
        )}
        {all.map((one) => (
          <Fragment key={one.id}>
            <CauseOf org={org} run={one} />
            {one.id === run.id ? (
              <Node isHere>
                <Status kind={one.status} bare />
                {one.extension}
              </Node>
            ) : (
              <Node>
                <Status kind={one.status} bare />
                <Link to="/o/$org/$repo/runs/$id" params={{ org, repo: one.repoName, id: one.id }}>
                  {one.extension}
                </Link>
              </Node>
            )}
          </Fragment>
        ))}
      </ol>
    </nav>
  )
}

/** What stands between a run and the one before it. */
function CauseOf({ org, run }: { org: string; run: Run }) {
  const type = causeType(run)
  if (run.trigger === 'push' && run.after)
    return (
      <Node>
        <Icon name="commit" />
        <Link
          to="/o/$org/$repo/commit/$oid"
          params={{ org, repo: run.repoName, oid: run.after }}
          title={run.after}
        >
          {causeWords(run)} <code>{run.after.slice(0, 7)}</code>
        </Link>
      </Node>
    )
  if (run.trigger === 'dispatch') return null
  return (
    <Node>
      <Icon name={run.trigger === 'daemon' ? 'time' : 'webhook'} />
      {type ? <EventLink org={org} run={run} words={causeWords(run)} /> : causeWords(run)}
    </Node>
  )
}

const EventLink = ({ org, run, words }: { org: string; run: Run; words: string }) => (
  <Link
    to="/o/$org/$repo/activity"
    params={{ org, repo: run.repoName }}
    search={run.causeEventId ? { event: run.causeEventId } : {}}
    title={run.causeEventId ?? undefined}
  >
    {words}
  </Link>
)

const Node = ({ children, isHere = false }: { children: ReactNode; isHere?: boolean }) => (
  <li className={isHere ? styles.here : undefined} aria-current={isHere || undefined}>
    {children}
  </li>
)

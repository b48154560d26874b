import { useNavigate, useSearch } from '@tanstack/react-router'
import type { NumberedEvent } from '@trellis/contract'
import { useEffect } from 'react'
import { useActorName } from '../../activity/actors.ts'
import { ORG_EVENTS, REPO_EVENTS } from '../../activity/types.ts'
import { useList } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { List } from '../../ui/List.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import styles from './Activity.module.css'
import { EventRow } from './EventRow.tsx'
import { type ActivitySearch, chosenIn, toggled, typesIn } from './filters.ts'
import { useFresh } from './fresh.ts'

const PAGE = 100
/** Where one person or event is looked for, so many events are read on before somebody has to ask for more. */
const LOOKED_AT_ONCE = 500

/** A log, the newest first. What comes meanwhile is counted, and shown when asked for. */
export function EventLog({ org, repo }: { org: string; repo?: string }) {
  const search = useSearch({ strict: false }) as ActivitySearch
  const navigate = useNavigate()
  const types = typesIn(search.types)
  const asked = {
    order: 'newest' as const,
    limit: PAGE,
    ...(repo && { name: repo }),
    ...(types && { types }),
  }
  const list = useList(org, (api) => api.events.list, asked)
  const nameOf = useActorName(org)
  const isWanted = ({ type, actor }: NumberedEvent) =>
    (!types || types.includes(type)) && (!search.actor || idOf(actor) === search.actor)
  const found = list.items.filter(isWanted)
  const newest = list.isPending ? undefined : (list.items[0]?.seq ?? 0)
  const fresh = useFresh({ org, repo, types, newest, isWanted })
  const pointed = list.items.find(({ id }) => id === search.event)
  const isScarce =
    (found.length < 20 && search.actor !== undefined) || (search.event !== undefined && !pointed)
  const readsOn = isScarce && list.hasMore && !list.isReading && list.items.length < LOOKED_AT_ONCE
  useEffect(() => {
    if (readsOn) void list.readMore()
  }, [readsOn, list.readMore])

  const show = (next: ActivitySearch) =>
    void navigate({
      ...(repo
        ? { to: '/o/$org/$repo/activity', params: { org, repo } }
        : { to: '/o/$org/~/activity', params: { org } }),
      search: next,
      replace: true,
      resetScroll: false,
    })
  return (
    <section className={styles.log} aria-label="Events">
      <Kinds isRepo={repo !== undefined} search={search} nameOf={nameOf} onShow={show} />
      {fresh.count > 0 && (
        <p className={styles.fresh} role="status">
          <Button small kind="first" onClick={fresh.show}>
            {fresh.count} new
          </Button>
        </p>
      )}
      {search.event && !list.isPending && !readsOn && (
        <section className={styles.pointed} aria-label="The event">
          {pointed ? (
            <EventRow event={pointed} org={org} repo={repo} nameOf={nameOf} onOnly={show} opened />
          ) : (
            <p className={styles.quiet}>
              <code>{search.event}</code> is not among the last events that fit.
            </p>
          )}
        </section>
      )}
      {list.isPending ? (
        <Skeleton />
      ) : found.length === 0 && !list.hasMore ? (
        <EmptyState
          title={search.types || search.actor ? 'No event is like that' : 'Nothing has happened yet'}
        />
      ) : (
        <List
          label="Events"
          items={withDays(found)}
          keyOf={(item) => (typeof item === 'string' ? item : item.id)}
          rowHeight={44}
          more={list}
        >
          {(item) =>
            typeof item === 'string' ? (
              <h2 className={styles.day}>{item}</h2>
            ) : (
              <EventRow
                event={item}
                org={org}
                repo={repo}
                nameOf={nameOf}
                onOnly={(only) => show({ ...search, ...only })}
              />
            )
          }
        </List>
      )}
    </section>
  )
}

export const idOf = ({ kind, id }: NumberedEvent['actor']): string => `${kind}:${id}`

interface KindsProps {
  isRepo: boolean
  search: ActivitySearch
  nameOf: ReturnType<typeof useActorName>
  onShow: (search: ActivitySearch) => void
}

/** The kinds of events as buttons, and what else narrows the log down as chips. */
function Kinds({ isRepo, search: { types, actor }, nameOf, onShow }: KindsProps) {
  const kinds = (isRepo ? REPO_EVENTS : ORG_EVENTS).map(({ about }) => about)
  const chosen = chosenIn(types)
  const others = chosen.filter((word) => !kinds.includes(word))
  const set = (next: { types?: string | undefined; actor?: string | undefined }) =>
    onShow({ ...(next.types && { types: next.types }), ...(next.actor && { actor: next.actor }) })
  const [kind = '', ...id] = actor?.split(':') ?? []
  return (
    <fieldset className={styles.kinds}>
      <legend className="heard">Which events</legend>
      {kinds.map((word) => (
        <button
          key={word}
          type="button"
          className={styles.kind}
          aria-pressed={chosen.includes(word)}
          onClick={() => set({ types: toggled(types, word), actor })}
        >
          {word}
        </button>
      ))}
      {others.map((word) => (
        <Chip key={word} label={word} onRemove={() => set({ types: toggled(types, word), actor })} />
      ))}
      {actor && (
        <Chip
          label={`by ${nameOf({ kind: kind as NumberedEvent['actor']['kind'], id: id.join(':') })}`}
          onRemove={() => set({ types })}
        />
      )}
    </fieldset>
  )
}

const Chip = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <span className={styles.chip}>
    {label}
    <Button kind="quiet" small icon="close" aria-label={`Remove the filter ${label}`} onClick={onRemove} />
  </span>
)

const day = new Intl.DateTimeFormat('en', { weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' })

/** With the day before the first event of each. */
function withDays(events: readonly NumberedEvent[]): (NumberedEvent | string)[] {
  let last = ''
  return events.flatMap((event) => {
    const today = day.format(event.ts)
    if (today === last) return [event]
    last = today
    return [today, event]
  })
}

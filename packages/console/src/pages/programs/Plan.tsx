import { Link } from '@tanstack/react-router'
import type { PromotionPlan } from '@trellis/contract'
import type { ReactNode } from 'react'
import { counted } from '../../ui/counted.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Tag } from '../../ui/Status.tsx'
import styles from './Promote.module.css'
import { capabilityWords, everyWords, triggerWords } from './words.ts'

interface PlanProps {
  org: string
  name: string
  plan: PromotionPlan
  /** It is no plan any more. */
  isDone?: boolean
}

/** What a promotion changes, by what it changes: powers first. */
export function Plan({ org, name, plan, isDone = false }: PlanProps) {
  const { changes, migrations, webhooks } = plan
  const grants = changes.flatMap(({ extension, grants }) => [
    ...(grants?.added ?? []).map((capability) => ({ extension, capability, isAdded: true })),
    ...(grants?.removed ?? []).map((capability) => ({ extension, capability, isAdded: false })),
  ])
  const added = grants.filter(({ isAdded }) => isAdded)
  const records = migrations.filter(({ kind }) => kind !== 'noop')
  const triggers = changes.filter(({ trigger }) => trigger)
  const daemons = changes.filter(({ daemon }) => daemon)
  const hooks = [
    ...webhooks.added.map((webhook) => ({ webhook, sign: '+', about: 'is active' })),
    ...webhooks.changed.map((webhook) => ({ webhook, sign: '~', about: 'changes' })),
    ...webhooks.removed.map((webhook) => ({ webhook, sign: '−', about: 'is orphaned: it hears nothing' })),
  ]
  const isNothing = changes.length + records.length + hooks.length === 0
  if (isNothing)
    return (
      <p className={styles.same}>
        Nothing that extensions, records, daemons or webhooks{' '}
        {isDone ? 'are has changed.' : 'are would change.'}
      </p>
    )
  return (
    <>
      {added.length > 0 && (
        <section className={styles.loud} aria-label="New power">
          <Icon name="alert" size={20} />
          <p>
            <strong>
              {added.length === 1 ? '1 new power' : `${added.length} new powers`}{' '}
              {!isDone ? 'would be given' : added.length === 1 ? 'was given' : 'were given'}.
            </strong>{' '}
            {isDone
              ? 'Runs may do this from now on.'
              : 'Read what runs may do from then on before you promote.'}
          </p>
        </section>
      )}
      <dl className={styles.plan}>
        <Part title="Extensions">
          {changes.map(({ extension, change, module }) => (
            <Entry key={extension} sign={SIGNS[change]}>
              <Link
                to="/o/$org/$repo/extensions/$name"
                params={{ org, repo: name, name: extension }}
                search={{ ref: plan.oid }}
              >
                {extension}
              </Link>
              <span>
                {change === 'added'
                  ? 'is new'
                  : change === 'removed'
                    ? 'goes'
                    : module
                      ? 'runs other code'
                      : 'is described differently'}
              </span>
            </Entry>
          ))}
        </Part>
        <Part title="Grants">
          {grants.map(({ extension, capability, isAdded }) => (
            <Entry key={`${extension} ${capability}`} sign={isAdded ? '+' : '−'}>
              <code>{capability}</code>
              <span className={styles.of}>{extension}</span>
              <span>
                {isAdded ? <Tag tone="warned">new power</Tag> : <Tag>taken away</Tag>}{' '}
                {capabilityWords(capability)}
              </span>
            </Entry>
          ))}
        </Part>
        <Part title="Records">
          {records.map(({ recordName, kind, steps, reasons = [], rows }) => (
            <Entry key={recordName} sign={kind === 'blocked' ? '!' : kind === 'create' ? '+' : '~'}>
              {kind === 'create' && !isDone ? (
                <code>{recordName}</code>
              ) : (
                <Link to="/o/$org/$repo/records/$record" params={{ org, repo: name, record: recordName }}>
                  <code>{recordName}</code>
                </Link>
              )}
              <span className={styles.of}>{kind === 'blocked' ? <Tag tone="bad">blocked</Tag> : kind}</span>
              <span>
                {[...steps, ...(kind === 'create' ? [] : [counted(rows, 'row')])].join(' · ')}
                {reasons.map((reason) => (
                  <span key={reason} className={styles.reason}>
                    {reason}
                  </span>
                ))}
              </span>
            </Entry>
          ))}
        </Part>
        <Part title="Triggers">
          {triggers.map(({ extension, trigger, on }) => (
            <Entry key={extension} sign={SIGNS[trigger ?? 'changed']}>
              <code>{extension}</code>
              <span>{on ? triggerWords(on).join('; ') : 'is started by nothing any more'}</span>
            </Entry>
          ))}
        </Part>
        <Part title="Daemons">
          {daemons.map(({ extension, daemon, scheduleIntervalMinutes }) => (
            <Entry key={extension} sign={SIGNS[daemon ?? 'changed']}>
              <code>{extension}</code>
              <span>
                {scheduleIntervalMinutes ? everyWords(scheduleIntervalMinutes) : 'is woken no more'}
              </span>
            </Entry>
          ))}
        </Part>
        <Part title="Webhooks">
          {hooks.map(({ webhook, sign, about }) => (
            <Entry key={webhook} sign={sign}>
              <code>{webhook}</code>
              <span>{about}</span>
            </Entry>
          ))}
        </Part>
      </dl>
      {plan.changesTruncated && <p className={styles.same}>There are more changes than can be listed.</p>}
    </>
  )
}

const SIGNS = { added: '+', changed: '~', removed: '−' } as const

function Part({ title, children }: { title: string; children: ReactNode[] }) {
  if (children.length === 0) return null
  return (
    <div className={styles.part}>
      <dt>{title}</dt>
      <dd>
        <ul aria-label={title}>{children}</ul>
      </dd>
    </div>
  )
}

const Entry = ({ sign, children }: { sign: string; children: ReactNode }) => (
  <li className={styles.entry}>
    <span className={styles.sign} data-sign={sign}>
      {sign}
    </span>
    {children}
  </li>
)

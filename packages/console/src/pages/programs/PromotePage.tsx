import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { PromotionPlan } from '@trellis/contract'
import { useState } from 'react'
import { shortRef } from '../../activity/words.ts'
import { query, useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { BuildErrors } from './BuildErrors.tsx'
import { CommitLink } from './links.tsx'
import { Plan } from './Plan.tsx'
import programs from './Programs.module.css'
import styles from './Promote.module.css'
import { RefSelect } from './RefSelect.tsx'

/** What a promotion would change, all of it, before it is done. */
export function PromotePage() {
  const { org, name, repo, api } = useRepo()
  const { ref = repo.defaultBranch } = useSearch({ strict: false }) as { ref?: string }
  const { data: plan } = useSuspenseQuery({
    ...query(org, (api) => api.extensions.plan, { name, ref }),
    // Others may push and promote meanwhile.
    staleTime: 0,
  })
  const [done, setDone] = useState<PromotionPlan>()
  const promote = useAction(() => api.extensions.promote({ name, ref: plan.oid }), {
    done: 'Promoted',
    changes: {
      org,
      paths: ['extensions/', 'daemons/', 'records/', 'webhooks/', 'repos/overview', 'events/'],
    },
    onDone: () => setDone(plan),
  })
  const reason = reasonAgainst(plan, repo.readOnly)

  if (done)
    return (
      <Page title={`Promoted · ${org}/${name}`}>
        <PageHeader
          title="Promoted"
          about={
            <>
              <CommitLink org={org} repo={name} oid={done.oid} /> is canonical now. This is what changed:
            </>
          }
        />
        <Plan org={org} name={name} plan={done} isDone />
        <p>
          <Link to="/o/$org/$repo/extensions" params={{ org, repo: name }}>
            See the extensions in force
          </Link>
        </p>
      </Page>
    )
  return (
    <Page title={`Promote ${shortRef(ref)} · ${org}/${name}`}>
      <PageHeader
        title={`Promote ${shortRef(ref)} → canonical`}
        about={
          <>
            <CommitLink org={org} repo={name} oid={plan.oid} />
            {plan.before ? (
              <>
                {' '}
                in the place of <CommitLink org={org} repo={name} oid={plan.before} />
              </>
            ) : (
              ', the first to be promoted'
            )}
            . A dry run: nothing has changed.
          </>
        }
      >
        <RefSelect key={ref} current={ref} />
      </PageHeader>
      {plan.errors.length > 0 ? (
        <BuildErrors org={org} repo={name} at={plan.oid} errors={plan.errors} />
      ) : (
        <Plan org={org} name={name} plan={plan} />
      )}
      <Section title="Put it in force">
        <ActionProblem of={promote} />
        <div className={styles.act}>
          <Button
            kind="first"
            busy={promote.busy}
            disabled={reason !== undefined}
            aria-describedby={reason ? 'why-not' : undefined}
            onClick={() => promote.run(undefined)}
          >
            Promote
          </Button>
          <p id="why-not" className={programs.quiet}>
            {reason ?? 'All of it at once, or nothing: whatever is in force goes on until then.'}
          </p>
        </div>
      </Section>
    </Page>
  )
}

/** Why it cannot be promoted; undefined when it can. */
function reasonAgainst(plan: PromotionPlan, isReadOnly: boolean): string | undefined {
  if (isReadOnly) return 'The repository is read-only.'
  if (plan.errors.length > 0) return `${plan.errors.length} broken: repair what is listed above, and push.`
  const blocked = plan.migrations.filter(({ kind }) => kind === 'blocked')
  if (blocked.length > 0)
    return `${blocked.length} blocked: rows of ${blocked.map(({ recordName }) => recordName).join(', ')} do not fit.`
  if (plan.oid === plan.before) return 'This commit is canonical already.'
  return undefined
}

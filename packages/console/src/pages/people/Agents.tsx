import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ClaimedAgent, Organization } from '@trellis/contract'
import { type ReactNode, useState } from 'react'
import { trellis } from '../../api/client.ts'
import { useAction, useList } from '../../api/queries.ts'
import { personQuery } from '../../api/session.ts'
import { Button } from '../../ui/Button.tsx'
import { Command } from '../../ui/Code.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Pager } from '../../ui/Pager.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Status, Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './People.module.css'
import { WhatItDid } from './WhatItDid.tsx'

interface AgentsProps {
  /** Those of one organization; all one's own when left out. */
  of?: { org: string; role: Organization['role'] }
}

/** The agents that the caller has claimed, and in an organization they look after all others that came with it. */
export function Agents({ of }: AgentsProps) {
  const seesAll = of !== undefined && of.role !== 'member'
  const list = useList(undefined, (api) => api.agents.list, {
    limit: 100,
    ...(seesAll && { orgSlug: of.org }),
  })
  const { data: person } = useSuspenseQuery(personQuery)
  if (list.isPending) return <Skeleton />
  const shown = list.items.filter(({ orgSlug }) => of === undefined || orgSlug === of.org)
  if (shown.length === 0 && !list.hasMore) return <NoAgents of={of} />
  return (
    <>
      <ul className={styles.agents} aria-label="Agents">
        {shown.map((agent) => {
          const isOwn = agent.claimedBy?.userId === person?.id
          const mayRevoke = isOwn || of?.role === 'owner'
          return <Agent key={agent.registrationId} of={agent} isOwn={isOwn} mayRevoke={mayRevoke} />
        })}
      </ul>
      <Pager {...list} />
    </>
  )
}

interface AgentProps {
  of: ClaimedAgent
  isOwn: boolean
  mayRevoke: boolean
}

function Agent({ of, isOwn, mayRevoke }: AgentProps) {
  const [isRevoking, setRevoking] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const revoke = useAction(() => trellis(undefined).agents.revoke({ registrationId: of.registrationId }), {
    done: 'The agent is revoked',
    changes: { org: undefined, paths: ['agents/'] },
    onDone: () => setRevoking(false),
  })
  const works = of.status === 'claimed'
  return (
    <li className={styles.agent}>
      <header className={styles.agentHead}>
        <Icon name="agent" />
        <h2>{of.agentName === null ? of.registrationId : `“${of.agentName}”`}</h2>
        {of.agentName !== null && <Tag>its own words, unchecked</Tag>}
        {works ? <Status kind="active">works</Status> : <Status kind="off">ended</Status>}
        <span className={styles.agentActs}>
          {of.orgSlug && (
            <Button small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              What it did
            </Button>
          )}
          {works && mayRevoke && (
            <Button small kind="danger" onClick={() => setRevoking(true)}>
              Revoke…
            </Button>
          )}
        </span>
      </header>
      <Facts of={factsOf(of, isOwn)} />
      {isOpen && of.orgSlug && <WhatItDid org={of.orgSlug} registrationId={of.registrationId} />}
      <ConfirmByName
        open={isRevoking}
        onClose={() => setRevoking(false)}
        title="Revoke this agent?"
        about="At once its tokens, and the repository tokens and invites it made, are refused by the API and by git. It cannot come back. What it pushed stays in the organization."
        name={of.agentName ?? of.registrationId}
        act="Revoke the agent"
        action={revoke}
        onConfirm={() => revoke.run(undefined)}
      />
    </li>
  )
}

const factsOf = (of: ClaimedAgent, isOwn: boolean): [name: string, what: ReactNode][] => [
  ['Registration', <code key="id">{of.registrationId}</code>],
  [
    'Works in',
    of.orgSlug ? (
      <Link key="org" to="/o/$org" params={{ org: of.orgSlug }}>
        {of.orgSlug}
      </Link>
    ) : (
      'an organization that is gone'
    ),
  ],
  [
    'Claimed',
    <span key="claimed">
      by {isOwn ? 'you' : (of.claimedBy?.name ?? 'somebody who is gone')}, <TimeAgo at={of.claimedAt} />
    </span>,
  ],
  of.revokedAt !== null
    ? ['Revoked', <TimeAgo key="end" at={of.revokedAt} />]
    : ['Ends', of.endsAt === null ? 'when its token does' : <Renewed key="end" at={of.endsAt} />],
]

const Renewed = ({ at }: { at: number }) => (
  <>
    <TimeAgo at={at} />, unless it comes back before
  </>
)

const titleOfNone = (of: AgentsProps['of']): string => {
  if (!of) return 'You have claimed no agent'
  return of.role === 'member'
    ? `You have claimed no agent that works in ${of.org}`
    : `No agent came with ${of.org}`
}

const NoAgents = ({ of }: AgentsProps) => (
  <EmptyState title={titleOfNone(of)}>
    <p>
      An agent registers by itself and works in an organization of its own. When it is told to work for you,
      it shows you a link and a code: open the one, type the other, and it is yours. Tell it where to begin:
    </p>
    <Command>{`Read ${location.origin}/auth.md and get access to this server by it.`}</Command>
    {of && (
      <p>
        To let one work in a repository of {of.org}, hand it a token of that repository, from its Access page.
      </p>
    )}
  </EmptyState>
)

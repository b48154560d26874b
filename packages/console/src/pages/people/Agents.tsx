import { Link } from '@tanstack/react-router'
import type { ClaimedAgent } from '@trellis/contract'
import { type ReactNode, useState } from 'react'
import { trellis } from '../../api/client.ts'
import { useAction, useList } from '../../api/queries.ts'
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

/** The agents that the caller has claimed: all, or those that came with one organization. */
export function Agents({ org }: { org?: string }) {
  const list = useList(undefined, (api) => api.agents.list, { limit: 100 })
  if (list.isPending) return <Skeleton />
  const shown = list.items.filter(({ orgSlug }) => org === undefined || orgSlug === org)
  if (shown.length === 0 && !list.hasMore) return <NoAgents org={org} />
  return (
    <>
      <ul className={styles.agents} aria-label="Agents">
        {shown.map((agent) => (
          <Agent key={agent.registrationId} of={agent} />
        ))}
      </ul>
      <Pager {...list} />
    </>
  )
}

function Agent({ of }: { of: ClaimedAgent }) {
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
          {works && (
            <Button small kind="danger" onClick={() => setRevoking(true)}>
              Revoke…
            </Button>
          )}
        </span>
      </header>
      <Facts of={factsOf(of)} />
      {isOpen && of.orgSlug && <WhatItDid org={of.orgSlug} registrationId={of.registrationId} />}
      <ConfirmByName
        open={isRevoking}
        onClose={() => setRevoking(false)}
        title="Revoke this agent?"
        about="At once its tokens, and the repository tokens and invites it made, are refused by the API and by git. It cannot come back. What it pushed stays, in the organization that is yours."
        name={of.agentName ?? of.registrationId}
        act="Revoke the agent"
        action={revoke}
        onConfirm={() => revoke.run(undefined)}
      />
    </li>
  )
}

const factsOf = (of: ClaimedAgent): [name: string, what: ReactNode][] => [
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
      by you, <TimeAgo at={of.claimedAt} />
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

const NoAgents = ({ org }: { org: string | undefined }) => (
  <EmptyState title={org ? `You have claimed no agent that works in ${org}` : 'You have claimed no agent'}>
    <p>
      An agent registers by itself and works in an organization of its own. When it is told to work for you,
      it shows you a link and a code: open the one, type the other, and it is yours. Tell it where to begin:
    </p>
    <Command>{`Read ${location.origin}/auth.md and get access to this server by it.`}</Command>
    {org && (
      <p>
        To let one work in a repository of {org}, hand it a token of that repository, from its Access page.
      </p>
    )}
  </EmptyState>
)

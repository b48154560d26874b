import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { RepoOverview } from '@trellis/contract'
import { useState } from 'react'
import { forgetUnseen, query, refresh, useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { sayBytes } from '../../ui/Bytes.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { counted } from '../../ui/counted.ts'
import { Section } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import styles from './Repository.module.css'

export function DangerZone() {
  return (
    <Section title="Danger zone">
      <div className={styles.danger}>
        <Purge />
        <Delete />
      </div>
    </Section>
  )
}

function Purge() {
  const { org, name, api } = useRepo()
  const purge = useAction(() => api.repos.purge({ name }), {
    done: ({ freedBytes }) =>
      freedBytes > 0 ? `Removed ${sayBytes(freedBytes)}` : 'There was nothing to remove',
    changes: { org, paths: ['repos/'] },
  })
  return (
    <div className={styles.deed}>
      <div>
        <h3>Remove what no branch or tag leads to</h3>
        <p>
          Commits of deleted branches and of force pushes, such as one with a secret in it, go at once and for
          good. Otherwise they go by themselves after a while.
        </p>
      </div>
      <Button kind="danger" busy={purge.busy} onClick={() => purge.run(undefined)}>
        Purge
      </Button>
      <ActionProblem of={purge} />
    </div>
  )
}

function Delete() {
  const { org, name, api } = useRepo()
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  const { data } = useQuery({ ...query(org, (api) => api.repos.overview, { name }), enabled: isOpen })
  const remove = useAction(() => api.repos.delete({ name }), {
    done: `Deleted ${name}`,
    onDone: async () => {
      await navigate({ to: '/o/$org', params: { org } })
      forgetUnseen(org)
      await refresh(org, 'repos/', 'events/')
    },
  })
  return (
    <div className={styles.deed}>
      <div>
        <h3>Delete this repository</h3>
        <p>
          With everything in it: history, extensions, records, runs, webhooks and tokens. Nobody can bring it
          back.
        </p>
      </div>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Delete…
      </Button>
      <ConfirmByName
        open={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${name}?`}
        about={data ? whatGoes(data) : 'Everything in it goes with it.'}
        name={name}
        act="Delete this repository"
        action={remove}
        onConfirm={() => remove.run(undefined)}
      />
    </div>
  )
}

/** In numbers, as far as there are any. */
function whatGoes({ repo, branches, tags, extensions, records, daemons }: RepoOverview): string {
  const things: [number | undefined | null, string, string][] = [
    [branches, 'branch', 'branches'],
    [tags, 'tag', 'tags'],
    [extensions, 'extension', 'extensions'],
    [records, 'collection of records', 'collections of records'],
    [daemons?.total, 'daemon', 'daemons'],
  ]
  const said = things.flatMap(([count, one, many]) => (count ? [counted(count, one, many)] : []))
  const sum = [...said, sayBytes(repo.sizeBytes)].join(', ')
  return `${sum}, with all runs, webhooks and tokens, go with it. Nobody can bring them back.`
}

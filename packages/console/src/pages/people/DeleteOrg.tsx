import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { rememberOrganization } from '../../api/acting.ts'
import { queryClient, useAction } from '../../api/queries.ts'
import { organizationsQuery, selfQuery } from '../../api/session.ts'
import { useOrg } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import styles from './People.module.css'

export function DeleteOrg() {
  const { org, organization, api } = useOrg()
  const [isAsked, setAsked] = useState(false)
  const navigate = useNavigate()
  const remove = useAction(() => api.orgs.delete({ orgSlug: org }), {
    done: `${organization.name} is deleted`,
    onDone: async () => {
      rememberOrganization(undefined)
      await navigate({ to: '/' })
      await Promise.all([
        queryClient.invalidateQueries(organizationsQuery),
        queryClient.invalidateQueries(selfQuery()),
      ])
    },
  })
  const count = organization.repoCount
  return (
    <div className={styles.danger}>
      <div>
        <p>Delete this organization</p>
        <p>
          {count > 0
            ? `It has ${count} ${count === 1 ? 'repository' : 'repositories'}. Delete them first: only an empty organization can go.`
            : 'Its members lose it, and their keys and invitations in it end. Its log goes with it.'}
        </p>
      </div>
      <Button kind="danger" disabled={count > 0} onClick={() => setAsked(true)}>
        Delete…
      </Button>
      <ConfirmByName
        open={isAsked}
        onClose={() => setAsked(false)}
        title={`Delete ${organization.name}?`}
        about="Its log, its members' keys and its invitations go with it. This cannot be undone."
        name={org}
        act="Delete this organization"
        action={remove}
        onConfirm={() => remove.run(undefined)}
      />
    </div>
  )
}

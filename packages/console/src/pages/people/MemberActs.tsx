import { useNavigate } from '@tanstack/react-router'
import type { Member } from '@trellis/contract'
import { useState } from 'react'
import { queryClient, useAction } from '../../api/queries.ts'
import { organizationsQuery } from '../../api/session.ts'
import { useOrg } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/Confirm.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { Menu, MenuItem } from '../../ui/Menu.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'

/** What can be done about a member, by whoever looks. */
export function MemberActs({ of, isSelf }: { of: Member; isSelf: boolean }) {
  const { org, organization, api } = useOrg()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'owner' | 'remove'>()
  const close = () => setAsked(undefined)
  const who = of.name ?? of.email ?? of.userId
  const them = { orgSlug: org, userId: of.userId }
  const changes = { org, paths: ['members/', 'orgs/', 'events/'] }
  const setRole = useAction((role: 'admin' | 'member') => api.members.setRole({ ...them, role }), {
    done: ({ role }) => `${who} is now ${role === 'admin' ? 'an admin' : 'a member'}`,
    changes,
  })
  const makeOwner = useAction(() => api.members.makeOwner(them), {
    done: `${who} is now an owner`,
    changes,
    onDone: close,
  })
  const remove = useAction(() => api.members.remove(them), {
    done: isSelf ? `You have left ${org}` : `${who} is removed`,
    ...(!isSelf && { changes }),
    onDone: () => {
      close()
      if (!isSelf) return
      void queryClient.invalidateQueries(organizationsQuery)
      void navigate({ to: '/' })
    },
  })

  const isOwner = organization.role === 'owner'
  const mayChange = isOwner || (organization.role === 'admin' && of.role !== 'owner')
  if (!mayChange && !isSelf) return null
  return (
    <>
      <Menu
        align="end"
        trigger={<Button kind="quiet" small icon="more" aria-label={`What to do with ${who}`} />}
      >
        {mayChange && of.role !== 'admin' && (
          <MenuItem onSelect={() => setRole.run('admin')}>Make an admin</MenuItem>
        )}
        {mayChange && of.role !== 'member' && (
          <MenuItem onSelect={() => setRole.run('member')}>Make a member</MenuItem>
        )}
        {isOwner && of.role !== 'owner' && (
          <MenuItem onSelect={() => setAsked('owner')}>Make an owner…</MenuItem>
        )}
        <MenuItem danger onSelect={() => setAsked('remove')}>
          {isSelf ? 'Leave…' : 'Remove…'}
        </MenuItem>
      </Menu>
      <ActionProblem of={setRole} />
      {asked === 'owner' && (
        <Confirm
          title={`Make ${who} an owner of ${org}?`}
          about="An owner may do everything, also remove you and delete the organization. Only an owner can take it back."
          act="Make an owner"
          kind="first"
          action={makeOwner}
          onClose={close}
          onConfirm={() => makeOwner.run(undefined)}
        />
      )}
      <ConfirmByName
        open={asked === 'remove'}
        title={isSelf ? `Leave ${org}?` : `Remove ${who} from ${org}?`}
        about={
          isSelf
            ? 'Your keys in it, and the tokens you made in it, end at once. Somebody has to invite you to come back.'
            : 'Their keys in it, and the tokens they made in it, end at once. What they pushed stays.'
        }
        name={of.email ?? of.userId}
        act={isSelf ? 'Leave' : 'Remove'}
        action={remove}
        onClose={close}
        onConfirm={() => remove.run(undefined)}
      />
    </>
  )
}

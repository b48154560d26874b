import type { GitRef } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Confirm } from '../../../ui/Confirm.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { DialogForm } from '../../../ui/DialogForm.tsx'
import { Field, Textarea, TextField } from '../../../ui/Field.tsx'
import { RefInput } from '../RefInput.tsx'

const CHANGES = ['git/tags/', 'git/refs/', 'repos/overview', 'events/']

export function NewTag({ onClose }: { onClose: () => void }) {
  const { org, name, repo, api } = useRepo()
  const [tag, setTag] = useState('')
  const [target, setTarget] = useState(repo.defaultBranch)
  const [message, setMessage] = useState('')
  const create = useAction(
    async () => {
      const { oid } = await api.git.commits.get({ name, ref: target.trim() })
      return api.git.tags.create({ name, tag: tag.trim(), oid, ...(message.trim() && { message }) })
    },
    {
      done: ({ name }) => `Created ${name}`,
      changes: { org, paths: CHANGES },
      onDone: onClose,
    },
  )
  return (
    <Dialog open onClose={onClose} title="New tag">
      <DialogForm
        act="Create tag"
        action={create}
        isReady={tag.trim() !== '' && target.trim() !== ''}
        onSubmit={() => create.run(undefined)}
        onClose={onClose}
      >
        <TextField label="Name" mono required autoFocus value={tag} onChange={setTag} />
        <Field label="Of" hint="A branch, a tag or the id of a commit.">
          {(control) => <RefInput {...control} value={target} onChange={setTarget} />}
        </Field>
        <Field label="Message" hint="With one the tag says who made it and when. Without, it is only a name.">
          {(control) => (
            <Textarea
              {...control}
              rows={3}
              value={message}
              onChange={({ target }) => setMessage(target.value)}
            />
          )}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

export function DeleteTag({ tag, onClose }: { tag: GitRef; onClose: () => void }) {
  const { org, name, api } = useRepo()
  const remove = useAction(() => api.git.tags.delete({ name, tag: tag.name, expectedOid: tag.oid }), {
    done: `Deleted ${tag.name}`,
    changes: { org, paths: CHANGES },
    onDone: onClose,
  })
  return (
    <Confirm
      onClose={onClose}
      title={`Delete ${tag.name}?`}
      about="Clones that have it keep it. Commits that nothing else leads to are removed after a while."
      act="Delete tag"
      action={remove}
      onConfirm={() => remove.run(undefined)}
    />
  )
}

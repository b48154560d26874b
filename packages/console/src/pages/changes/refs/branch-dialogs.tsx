import { type ReactNode, useState } from 'react'
import { useAction } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Confirm } from '../../../ui/Confirm.tsx'
import { CopyButton } from '../../../ui/CopyButton.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { DialogForm } from '../../../ui/DialogForm.tsx'
import { Field, TextField } from '../../../ui/Field.tsx'
import { RefInput } from '../RefInput.tsx'
import type { Branch } from './BranchesPage.tsx'
import styles from './Refs.module.css'

const CHANGES = ['git/branches/', 'git/refs/', 'repos/overview', 'events/']

export function NewBranch({ onClose }: { onClose: () => void }) {
  const { org, name, repo, api } = useRepo()
  const [branch, setBranch] = useState('')
  const [from, setFrom] = useState(repo.defaultBranch)
  const create = useAction(
    () => api.git.branches.create({ name, branch: branch.trim(), from: from.trim() }),
    {
      done: ({ name }) => `Created ${name}`,
      changes: { org, paths: CHANGES },
      onDone: onClose,
    },
  )
  return (
    <Dialog open onClose={onClose} title="New branch">
      <DialogForm
        act="Create branch"
        action={create}
        isReady={branch.trim() !== '' && from.trim() !== ''}
        onSubmit={() => create.run(undefined)}
        onClose={onClose}
      >
        <TextField label="Name" mono required autoFocus value={branch} onChange={setBranch} />
        <Field label="From" hint="A branch, a tag or the id of a commit.">
          {(control) => <RefInput {...control} value={from} onChange={setFrom} />}
        </Field>
      </DialogForm>
    </Dialog>
  )
}

/** Says what is lost with it. Rules may refuse it: then they say so. */
export function DeleteBranch({ branch, onClose }: { branch: Branch; onClose: () => void }) {
  const { org, name, repo, api } = useRepo()
  const remove = useAction(
    () => api.git.branches.delete({ name, branch: branch.name, expectedOid: branch.oid }),
    { done: `Deleted ${branch.name}`, changes: { org, paths: CHANGES }, onDone: onClose },
  )
  return (
    <Confirm
      onClose={onClose}
      title={`Delete ${branch.name}?`}
      about={whatGoes(branch, repo.defaultBranch)}
      act="Delete branch"
      action={remove}
      onConfirm={() => remove.run(undefined)}
    />
  )
}

function whatGoes({ ahead, oid }: Branch, defaultBranch: string): ReactNode {
  if (ahead === 0) return `${defaultBranch} has everything of it: nothing is lost.`
  const commits = ahead === null ? 'commits' : `${ahead} ${ahead === 1 ? 'commit' : 'commits'}`
  return (
    <>
      It has {commits} that {defaultBranch} does not have. With the id of its last one it can be made again
      for a while: <code className={styles.oid}>{oid}</code>{' '}
      <CopyButton text={oid} label="Copy the id" bare />
    </>
  )
}

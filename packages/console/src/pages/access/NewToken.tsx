import type { AccessScope } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Command } from '../../ui/Code.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { DialogForm } from '../../ui/DialogForm.tsx'
import { ChoiceField, Field, Textarea } from '../../ui/Field.tsx'
import { SecretOnce } from '../../ui/SecretOnce.tsx'
import { TOKEN_LIFETIMES } from './lifetimes.ts'
import { ScopeChoice } from './ScopeChoice.tsx'

/** Makes a token of the repository, and shows its secret the one time. */
export function NewToken({ onClose }: { onClose: () => void }) {
  const { org, name, repo, api } = useRepo()
  const [scope, setScope] = useState<AccessScope>('read')
  const [ttlSeconds, setTtl] = useState(86_400)
  const [patterns, setPatterns] = useState('')
  const create = useAction(
    () => {
      const refs = patterns.split('\n').flatMap((line) => line.trim() || [])
      const isBound = scope === 'write' && refs.length > 0
      return api.tokens.create({ name, scope, ttlSeconds, ...(isBound && { refs }) })
    },
    { changes: { org, paths: ['tokens/', 'events/'] } },
  )
  if (create.result)
    return (
      <Dialog open onClose={onClose} title="Your new token">
        <SecretOnce label="The token" secret={create.result.secret} onStored={onClose}>
          <p>Git asks for a password: this is it, with any user name.</p>
          <Command>{`git clone ${repo.remote ?? ''}`}</Command>
        </SecretOnce>
      </Dialog>
    )
  return (
    <Dialog
      open
      onClose={onClose}
      title={`New token for ${name}`}
      about="It opens this repository and nothing else, and ends by itself: for CI, or for an agent."
    >
      <DialogForm act="Create token" action={create} onSubmit={() => create.run(undefined)} onClose={onClose}>
        <ScopeChoice value={scope} onChoose={setScope} />
        {scope === 'write' && (
          <Field
            label="Refs it may move"
            hint="A pattern a line: agents/** for branches, refs/tags/v* for others; one that begins with ! takes away. All refs when left empty."
          >
            {(control) => (
              <Textarea
                {...control}
                mono
                rows={3}
                value={patterns}
                onChange={(event) => setPatterns(event.target.value)}
              />
            )}
          </Field>
        )}
        <ChoiceField label="Works for" value={ttlSeconds} options={TOKEN_LIFETIMES} onChoose={setTtl} />
      </DialogForm>
    </Dialog>
  )
}

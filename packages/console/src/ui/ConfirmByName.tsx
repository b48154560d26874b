import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { Form, FormActions, TextField } from './Field.tsx'
import { ActionProblem } from './Problem.tsx'

interface ConfirmByNameProps {
  open: boolean
  onClose: () => void
  title: string
  /** What goes with it, said before it goes. */
  about: ReactNode
  /** What has to be typed. */
  name: string
  /** On the button: `Delete this repository`. */
  act: string
  action: { busy: boolean; error: Error | null }
  onConfirm: () => void
}

/** Before what cannot be undone: only somebody who has read the name can type it. */
export function ConfirmByName({
  open,
  onClose,
  title,
  about,
  name,
  act,
  action,
  onConfirm,
}: ConfirmByNameProps) {
  const [typed, setTyped] = useState('')
  const isSame = typed === name
  return (
    <Dialog open={open} onClose={onClose} title={title} about={about}>
      <Form onSubmit={() => isSame && onConfirm()}>
        <TextField label={`Type ${name} to go on`} mono autoFocus value={typed} onChange={setTyped} />
        <ActionProblem of={action} />
        <FormActions>
          <Button kind="danger" type="submit" disabled={!isSame} busy={action.busy}>
            {act}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Keep it
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}

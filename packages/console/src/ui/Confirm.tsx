import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { FormActions } from './Field.tsx'
import { ActionProblem } from './Problem.tsx'

interface ConfirmProps {
  onClose: () => void
  title: string
  /** What it means, in a sentence or two. */
  about: ReactNode
  /** On the button: `Revoke the key`. */
  act: string
  kind?: 'first' | 'danger'
  action: { busy: boolean; error: Error | null }
  onConfirm: () => void
}

/** Before what matters and can be made good again: asked once more. What cannot be undone asks for a name. */
export const Confirm = ({ onClose, title, about, act, kind = 'danger', action, onConfirm }: ConfirmProps) => (
  <Dialog open onClose={onClose} title={title} about={about}>
    <ActionProblem of={action} />
    <FormActions>
      <Button kind={kind} busy={action.busy} onClick={onConfirm}>
        {act}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Cancel
      </Button>
    </FormActions>
  </Dialog>
)

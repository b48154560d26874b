import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Form, FormActions } from './Field.tsx'
import { ActionProblem } from './Problem.tsx'

interface DialogFormProps {
  /** On the button: `Create branch`. */
  act: string
  action: { busy: boolean; error: Error | null }
  /** Whether enough is given to do it; what a field requires is asked for by itself. */
  isReady?: boolean
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}

/** The fields of a dialog, what went wrong, and the two ways out of it. */
export const DialogForm = ({ act, action, isReady = true, onSubmit, onClose, children }: DialogFormProps) => (
  <Form onSubmit={onSubmit}>
    {children}
    <ActionProblem of={action} />
    <FormActions>
      <Button kind="first" type="submit" busy={action.busy} disabled={!isReady}>
        {act}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Cancel
      </Button>
    </FormActions>
  </Form>
)

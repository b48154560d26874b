import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useShortcut } from '../../../keys/shortcuts.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { Form, FormActions, TextField } from '../../../ui/Field.tsx'
import { readMarked, writeMarked } from './marks.ts'

/** `l` asks for a line, or for some, and goes there. */
export function GoToLine({ last }: { last: number }) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const wanted = readMarked(`L${text.trim()}`)
  useShortcut('l', 'Go to a line', () => setOpen(true))

  function go(): void {
    if (!wanted) return
    setOpen(false)
    setText('')
    const hash = writeMarked({ from: Math.min(wanted.from, last), to: Math.min(wanted.to, last) })
    void navigate({ to: '.', hash, replace: true, resetScroll: false, hashScrollIntoView: false })
  }

  return (
    <Dialog open={open} onClose={() => setOpen(false)} title="Go to a line">
      <Form onSubmit={go}>
        <TextField
          label="Line"
          hint={`Of ${last.toLocaleString('en')}. Some in a row: 10-20.`}
          autoFocus
          inputMode="numeric"
          value={text}
          onChange={setText}
        />
        <FormActions>
          <Button kind="first" type="submit" disabled={!wanted}>
            Go
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}

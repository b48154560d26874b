import { useState } from 'react'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'
import { useHeldOpen } from './Dialog.tsx'
import { Checkbox } from './Field.tsx'
import styles from './SecretOnce.module.css'

interface SecretOnceProps {
  /** What it is: `The key`. */
  label: string
  secret: string
  /** What else to know of it: how to use it, when it ends. */
  children?: React.ReactNode
  onStored: () => void
}

/** A secret, which is shown this one time: a dialog that shows it stays until it is stored. */
export function SecretOnce({ label, secret, children, onStored }: SecretOnceProps) {
  const [stored, setStored] = useState(false)
  useHeldOpen(!stored)
  return (
    <section className={styles.frame} aria-label={label}>
      <p>
        <strong>{label}</strong> is shown only now. Copy it to where it is needed.
      </p>
      <div className={styles.secret}>
        <code>{secret}</code>
        <CopyButton text={secret} />
      </div>
      {children}
      <Checkbox
        label="I have stored it"
        checked={stored}
        onChange={(event) => setStored(event.target.checked)}
      />
      <Button kind="first" disabled={!stored} onClick={onStored}>
        Done
      </Button>
    </section>
  )
}

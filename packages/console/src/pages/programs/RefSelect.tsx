import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { shortRef } from '../../activity/words.ts'
import { Button } from '../../ui/Button.tsx'
import { RefInput } from '../changes/RefInput.tsx'
import styles from './Programs.module.css'

interface RefSelectProps {
  current: string
  /** Where what is in force can be looked at as well. */
  canonicalRef?: string | undefined
}

/** Which branch, tag or commit is looked at: it is in the address. */
export function RefSelect({ current, canonicalRef }: RefSelectProps) {
  const navigate = useNavigate()
  const isCanonical = current === canonicalRef
  const [written, setWritten] = useState(isCanonical ? 'canonical' : shortRef(current))
  const look = (ref: string) => {
    setWritten(ref === canonicalRef ? 'canonical' : ref)
    void navigate({ to: '.', search: ((before: object) => ({ ...before, ref })) as never })
  }
  return (
    <form
      className={styles.ref}
      onSubmit={(event) => {
        event.preventDefault()
        if (written.trim() && written !== 'canonical') look(written.trim())
      }}
    >
      <RefInput
        aria-label="Branch, tag or commit"
        value={written}
        onChange={setWritten}
        onChoose={(ref) => look(ref)}
      />
      {canonicalRef && (
        <Button aria-pressed={isCanonical} disabled={isCanonical} onClick={() => look(canonicalRef)}>
          What is in force
        </Button>
      )}
    </form>
  )
}

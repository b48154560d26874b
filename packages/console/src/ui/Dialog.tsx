import { Dialog as Base } from '@base-ui/react/dialog'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { Button } from './Button.tsx'
import styles from './Dialog.module.css'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  /** What it is about, in a sentence. */
  about?: ReactNode
  children: ReactNode
  wide?: boolean
}

const Holding = createContext<(isHeld: boolean) => void>(() => {})

/** Keeps the dialog around it open: neither Escape nor a click beside it closes it, and it has no ×. */
export function useHeldOpen(isHeld: boolean): void {
  const hold = useContext(Holding)
  useEffect(() => {
    hold(isHeld)
    return () => hold(false)
  }, [hold, isHeld])
}

export function Dialog({ open, onClose, title, about, children, wide }: DialogProps) {
  const [isHeld, setHeld] = useState(false)
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && !isHeld && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.veil} />
        <Base.Popup className={wide ? `${styles.dialog} ${styles.wide}` : styles.dialog}>
          <header className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            {!isHeld && <Base.Close render={<Button kind="quiet" small icon="close" aria-label="Close" />} />}
          </header>
          {about && <Base.Description className={styles.about}>{about}</Base.Description>}
          <Holding value={setHeld}>{children}</Holding>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

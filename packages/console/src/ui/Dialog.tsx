import { Dialog as Base } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
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

export function Dialog({ open, onClose, title, about, children, wide }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.veil} />
        <Base.Popup className={wide ? `${styles.dialog} ${styles.wide}` : styles.dialog}>
          <header className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close render={<Button kind="quiet" small icon="close" aria-label="Close" />} />
          </header>
          {about && <Base.Description className={styles.about}>{about}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

import { Popover as Base } from '@base-ui/react/popover'
import type { ReactElement, ReactNode } from 'react'
import styles from './Popover.module.css'

interface PopoverProps {
  /** What opens it: a button. */
  trigger: ReactElement
  /** What it is, for those who listen. */
  label: string
  children: ReactNode
  align?: 'start' | 'end'
  open?: boolean
  onOpen?: (isOpen: boolean) => void
}

/** Something to look at or fill in beside the button that opened it. What is only chosen from is a `Menu`. */
export const Popover = ({ trigger, label, children, align = 'start', open, onOpen }: PopoverProps) => (
  <Base.Root {...(open !== undefined && { open })} onOpenChange={(isOpen) => onOpen?.(isOpen)}>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner className={styles.place} align={align} sideOffset={4} collisionPadding={8}>
        <Base.Popup className={styles.popover} aria-label={label}>
          {children}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

import { Menu as Base } from '@base-ui/react/menu'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { Icon, type IconName } from './Icon.tsx'
import styles from './Menu.module.css'

interface MenuProps {
  /** What opens it: a button. */
  trigger: ReactElement
  children: ReactNode
  align?: 'start' | 'end'
}

export const Menu = ({ trigger, children, align = 'start' }: MenuProps) => (
  <Base.Root modal={false}>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner className={styles.place} align={align} sideOffset={4} collisionPadding={8}>
        <Base.Popup className={styles.menu}>{children}</Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

interface ItemProps {
  icon?: IconName
  children: ReactNode
  onSelect: () => void
  danger?: boolean
}

export const MenuItem = ({ icon, children, onSelect, danger }: ItemProps) => (
  <Base.Item className={danger ? `${styles.item} ${styles.danger}` : styles.item} onClick={onSelect}>
    {icon && <Icon name={icon} />}
    {children}
  </Base.Item>
)

/** To a page of the console. */
export const MenuLink = ({
  icon,
  children,
  ...link
}: LinkProps & { icon?: IconName; children: ReactNode }) => (
  <Base.LinkItem className={styles.item} closeOnClick render={<Link {...link} />}>
    {icon && <Icon name={icon} />}
    {children}
  </Base.LinkItem>
)

/** To a page the server renders itself. */
export const MenuAnchor = ({
  icon,
  children,
  href,
}: {
  icon?: IconName
  children: ReactNode
  href: string
}) => (
  <Base.LinkItem className={styles.item} href={href}>
    {icon && <Icon name={icon} />}
    {children}
  </Base.LinkItem>
)

interface ChoiceProps<Value extends string> {
  label: string
  value: Value
  options: readonly { value: Value; label: string }[]
  onChoose: (value: Value) => void
}

/** One of a few, with a mark at the one that holds. */
export const MenuChoice = <Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) => (
  <Base.Group>
    <Base.GroupLabel className={styles.label}>{label}</Base.GroupLabel>
    <Base.RadioGroup value={value} onValueChange={(chosen: Value) => onChoose(chosen)}>
      {options.map((option) => (
        <Base.RadioItem key={option.value} className={styles.item} value={option.value}>
          <span className={styles.mark}>
            <Base.RadioItemIndicator>
              <Icon name="check" />
            </Base.RadioItemIndicator>
          </span>
          {option.label}
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  </Base.Group>
)

export const MenuLine = () => <Base.Separator className={styles.line} />

/** Words at the head of a menu. */
export const MenuHead = ({ children }: { children: ReactNode }) => (
  <div className={styles.head}>{children}</div>
)

import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import styles from './Tabs.module.css'

/** Places beside one another, each with an address: `<NavTabs label="Repository">` around `<NavTab to=…>`. */
export const NavTabs = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav aria-label={label} className={styles.tabs}>
    {children}
  </nav>
)

export const NavTab = ({
  exact = false,
  isHere = false,
  children,
  ...link
}: LinkProps & { exact?: boolean; isHere?: boolean; children: ReactNode }) => (
  <Link
    {...link}
    aria-current={isHere ? 'page' : undefined}
    className={styles.tab}
    activeOptions={{ exact, includeSearch: false }}
    activeProps={{ 'aria-current': 'page' }}
  >
    {children}
  </Link>
)

/** Beside them, to a page the server renders itself. */
export const NavAnchor = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} className={styles.tab}>
    {children}
  </a>
)

interface TabsProps<Value extends string> {
  label: string
  value: Value
  options: readonly { value: Value; label: ReactNode }[]
  onChoose: (value: Value) => void
}

/** A few ways to see the same thing, such as split and unified: a group of buttons of which one is pressed. */
export const Tabs = <Value extends string>({ label, value, options, onChoose }: TabsProps<Value>) => (
  <fieldset className={styles.group}>
    <legend className="heard">{label}</legend>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        className={styles.option}
        aria-pressed={option.value === value}
        onClick={() => onChoose(option.value)}
      >
        {option.label}
      </button>
    ))}
  </fieldset>
)

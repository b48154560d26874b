import { Link, type LinkProps, useRouterState } from '@tanstack/react-router'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import styles from './Tabs.module.css'

/** Places beside one another, each with an address: `<NavTabs label="Repository">` around `<NavTab to=…>`. */
export const NavTabs = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav aria-label={label} className={styles.tabs} ref={useCurrentInView()}>
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

/** Where there is no room for all tabs, the one of the page is among those that are seen. */
function useCurrentInView(): RefObject<HTMLElement | null> {
  const row = useRef<HTMLElement>(null)
  const page = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  useEffect(() => {
    const all = row.current
    const current = all?.querySelector<HTMLElement>('[aria-current]')
    if (page === undefined || !all || !current) return
    const middle = current.offsetLeft + current.offsetWidth / 2
    all.scrollTo({ left: middle - all.offsetLeft - all.clientWidth / 2 })
  }, [page])
  return row
}

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

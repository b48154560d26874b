import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import styles from './Button.module.css'
import { Icon, type IconName } from './Icon.tsx'

interface Look {
  /** The one thing to do here; ordinary; what destroys; or barely there. */
  kind?: 'first' | 'second' | 'danger' | 'quiet' | undefined
  icon?: IconName | undefined
  small?: boolean | undefined
}

const classOf = ({ kind = 'second', small }: Look, isBare: boolean): string =>
  [styles.button, styles[kind], small && styles.small, isBare && styles.bare].filter(Boolean).join(' ')

type ButtonProps = ComponentProps<'button'> & Look & { busy?: boolean | undefined }

export function Button({ kind, icon, small, busy = false, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={classOf({ kind, small }, children === undefined)}
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

function LookingLikeButton({ kind, icon, small, children, ...rest }: ComponentProps<'a'> & Look) {
  return (
    <a className={classOf({ kind, small }, children === undefined)} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}

/** What navigates is a link, whatever it looks like. */
export const LinkButton = createLink(LookingLikeButton)
/** To a page that is not of the console. */
export const AnchorButton = LookingLikeButton

import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { ApiError, adviceOn, isAllAt, isApiError, titleOf } from '../api/errors.ts'
import { Button } from './Button.tsx'
import styles from './Problem.module.css'

/** What went wrong, what to do, and by which id whoever runs the server finds it. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className={styles.problem} role="alert">
      <p className={styles.title}>{titleOf(error)}</p>
      <p>{adviceOn(error)}</p>
      {onRetry && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
      <RequestId error={error} />
    </div>
  )
}

interface ActionProblemProps {
  of: { error: Error | null }
  /** What the form has fields for, which say themselves what is wrong with it. */
  besides?: readonly string[]
}

/** Beside the button of an action that failed. */
export const ActionProblem = ({ of: { error }, besides = [] }: ActionProblemProps): ReactNode =>
  error && !isAllAt(error, besides) ? <Problem error={error} /> : null

/** In the place of a page that could not be shown. */
export function PageProblem({ error }: { error: unknown }) {
  const router = useRouter()
  const { reset } = useQueryErrorResetBoundary()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  useServerBack(isApiError(error, 'UNREACHABLE'), retry)
  return (
    <div className={styles.page}>
      <Problem error={error} {...(canHelpAgain(error) && { onRetry: retry })} />
    </div>
  )
}

/** So often it is tried whether a server can be reached again. */
const LOOK_MS = 3_000

/** Does something when the server answers again. */
function useServerBack(isAway: boolean, onBack: () => void): void {
  const back = useEffectEvent(onBack)
  useEffect(() => {
    if (!isAway) return
    const end = new AbortController()
    const timer = setInterval(() => {
      fetch('/healthz', { signal: end.signal }).then(
        ({ ok }) => ok && !end.signal.aborted && back(),
        () => {},
      )
    }, LOOK_MS)
    return () => {
      clearInterval(timer)
      end.abort()
    }
  }, [isAway])
}

/** What was refused for good is refused again. */
const canHelpAgain = (error: unknown): boolean => !(error instanceof ApiError) || error.status !== 403

const RequestId = ({ error }: { error: unknown }) =>
  error instanceof ApiError && error.requestId ? (
    <p className={styles.id}>
      Request <code>{error.requestId}</code>
    </p>
  ) : null

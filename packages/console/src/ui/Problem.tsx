import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiError, adviceOn, titleOf } from '../api/errors.ts'
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

/** Beside the button of an action that failed. */
export const ActionProblem = ({ of }: { of: { error: Error | null } }): ReactNode =>
  of.error ? <Problem error={of.error} /> : null

/** In the place of a page that could not be shown. */
export function PageProblem({ error }: { error: unknown }) {
  const router = useRouter()
  return (
    <div className={styles.page}>
      <Problem error={error} onRetry={() => void router.invalidate()} />
    </div>
  )
}

const RequestId = ({ error }: { error: unknown }) =>
  error instanceof ApiError && error.requestId ? (
    <p className={styles.id}>
      Request <code>{error.requestId}</code>
    </p>
  ) : null

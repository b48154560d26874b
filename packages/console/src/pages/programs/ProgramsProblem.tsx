import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ApiError, isApiError, isNotThere, titleOf } from '../../api/errors.ts'
import { NothingHere } from '../../shell/Layouts.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { PageProblem, Problem } from '../../ui/Problem.tsx'
import styles from './Programs.module.css'
import { rejectionWords } from './words.ts'

/** In the place of a page of programs that could not be shown. */
export function ProgramsProblem({ error }: { error: unknown }) {
  const { ref } = useSearch({ strict: false }) as { ref?: string }
  if (isApiError(error, 'FEATURE_UNAVAILABLE'))
    return (
      <div className={styles.alone}>
        <h1 className="heard">Not available</h1>
        <FeatureOff error={error} />
      </div>
    )
  if (isApiError(error, 'EXTENSION_INVALID') || isApiError(error, 'EXTENSION_BUILD_FAILED'))
    return (
      <div className={styles.alone}>
        <h1>{titleOf(error)}</h1>
        <p className={styles.quiet}>Repair it and push, or choose another ref.</p>
        <pre className={styles.broken}>{String(error.data.reason ?? error.data.message)}</pre>
      </div>
    )
  const missing = missingWords(error, ref)
  if (missing)
    return (
      <div className={styles.alone}>
        <h1>{missing.title}</h1>
        <p>{missing.about}</p>
      </div>
    )
  return isNotThere(error) ? <NothingHere /> : <PageProblem error={error} />
}

function missingWords(error: unknown, ref: string | undefined): { title: string; about: string } | undefined {
  if (isApiError(error, 'RUN_NOT_FOUND'))
    return {
      title: 'There is no such run',
      about: 'The address may be mistyped. Runs are kept for some time after their end, then they go.',
    }
  if (isApiError(error, 'EXTENSION_NOT_FOUND'))
    return {
      title: `There is no extension ${String(error.data.extension ?? '')}${ref ? ` at ${ref}` : ''}`,
      about: 'It may have been renamed or removed, or it is on another branch.',
    }
  if (isApiError(error, 'GIT_OBJECT_NOT_FOUND'))
    return {
      title: 'There is no such branch, tag or commit',
      about: 'Choose another ref, or push something first.',
    }
  return undefined
}

/** What the server says of runtimes that are off: why, and how they are turned on. */
function useRuntimesOff(): string[] {
  const { data } = useQuery({
    queryKey: ['', 'readyz'],
    staleTime: 60_000,
    throwOnError: false,
    queryFn: async ({ signal }): Promise<string[]> => {
      const answer: { runtimesOff?: string[] } = await (await fetch('/readyz', { signal })).json()
      return answer.runtimesOff ?? []
    },
  })
  return data ?? []
}

/** A part of the server that is switched off, and how it is switched on. */
function FeatureOff({ error }: { error: ApiError }) {
  const feature = String(error.data.feature)
  return (
    <EmptyState title={feature === 'extensions' ? 'Extensions are off' : `The ${feature} runtime is off`}>
      <p>This server runs none of them. Whoever runs it can turn them on.</p>
      <RuntimeAdvice runtime={feature === 'extensions' ? undefined : feature} />
    </EmptyState>
  )
}

/** The server's own words about a runtime, or about all of them. */
export function RuntimeAdvice({ runtime }: { runtime: string | undefined }) {
  const lines = useRuntimesOff().filter(
    (line) => runtime === undefined || (line.split(':')[0] ?? '').includes(runtime),
  )
  return (
    <ul className={styles.advice}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

/** Why a run could not be, beside what asked for it. */
export function RunProblem({ of: { error } }: { of: { error: Error | null } }) {
  if (!error) return null
  if (isApiError(error, 'FEATURE_UNAVAILABLE')) return <FeatureOff error={error} />
  if (isApiError(error, 'RUN_REJECTED'))
    return (
      <div className={styles.refused} role="alert">
        <strong>The run was refused.</strong> {rejectionWords(String(error.data.reason))}
        {error.requestId && (
          <span className={styles.small}>
            Request <code>{error.requestId}</code>
          </span>
        )}
      </div>
    )
  return <Problem error={error} />
}

/** What the server answered when it did not do what was asked. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly data: Record<string, unknown>
  readonly requestId: string | null

  constructor(told: {
    code: string
    status: number
    message: string
    data?: unknown
    requestId: string | null
  }) {
    super(told.message)
    this.name = 'ApiError'
    this.code = told.code
    this.status = told.status
    this.data = typeof told.data === 'object' && told.data !== null ? { ...told.data } : {}
    this.requestId = told.requestId
  }
}

export const isApiError = (error: unknown, code?: string): error is ApiError =>
  error instanceof ApiError && (code === undefined || error.code === code)

/** Something that is not there, or that the caller may not see: nobody is told which. */
export const isNotThere = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 404 || (error.status === 403 && error.data.reason === 'not_a_member'))

/** Reads a failed answer, whoever sent it: a proxy in between may have. */
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id')
  const { status } = response
  const body: unknown = await response.json().catch(() => undefined)
  if (isEnvelope(body)) return new ApiError({ ...body, status, requestId })
  return new ApiError({ code: 'UNREADABLE', status, message: `The server answered ${status}`, requestId })
}

export const unreachable = (): ApiError =>
  new ApiError({ code: 'UNREACHABLE', status: 0, message: 'The server cannot be reached', requestId: null })

const isEnvelope = (body: unknown): body is { code: string; message: string; data?: unknown } =>
  typeof body === 'object' && body !== null && 'code' in body && 'message' in body

/** What happened, in a sentence. */
export function titleOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : 'Something went wrong'
}

interface Issue {
  path?: (string | number)[]
  message: string
}

const issuesOf = (error: unknown): Issue[] =>
  error instanceof ApiError ? ((error.data as { issues?: Issue[] }).issues ?? []) : []

/** What is wrong with one thing of what was sent, for the field that asks for it. */
export const problemAt = (error: unknown, field: string): string | undefined =>
  issuesOf(error).find(({ path }) => path?.[0] === field)?.message

/** Whether some fields say all that is wrong. */
export const isAllAt = (error: unknown, fields: readonly string[]): boolean => {
  const issues = issuesOf(error)
  return issues.length > 0 && issues.every(({ path }) => fields.includes(String(path?.[0])))
}

/** What to do about it. */
export function adviceOn(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Load the page again. If it stays, tell whoever runs this server.'
  const issues = issuesOf(error)
  if (issues.length > 0) return issues.map(inWords).join(' ')
  if (error.code === 'IMPORT_FAILED') return 'Look at the address, and at what it asks for, then try again.'
  if (error.code === 'UNREACHABLE')
    return 'Look at your connection. This goes on when the server answers again.'
  if (error.status === 429) return 'Wait a moment, then try again.'
  if (error.status === 403) return 'Ask an owner or admin of the organization.'
  if (error.status === 404) return 'It may have been renamed or removed, or you may not see it.'
  if (error.status === 409) return 'Somebody was quicker. Load the page again to see what is there now.'
  if (error.status >= 500) return 'Try again. If it stays, give the request id to whoever runs this server.'
  return 'Change what you sent, then try again.'
}

const inWords = ({ path = [], message }: Issue): string =>
  `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}.`

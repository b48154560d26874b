import type { RecordSchema } from '@trellis/contract'
import { ApiError, readError, unreachable } from '../../api/errors.ts'
import type { RowsAsked } from './queries.ts'
import { type Field, fieldsOf } from './schema.ts'

const API = '/api/v1/records'

/** Reads all rows that are asked for, a line each, and tells how many have come. */
export async function exportRows(
  org: string,
  { name, record, where }: RowsAsked,
  { signal, onRows }: { signal: AbortSignal; onRows: (rows: number, bytes: number) => void },
): Promise<Blob> {
  const response = await fetch(`${API}/export`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'trellis-org': org },
    body: JSON.stringify({ name, record, ...(where && { where }) }),
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : unreachable()
  })
  if (!response.ok || !response.body) throw await readError(response)
  const parts: BlobPart[] = []
  let [rows, bytes] = [0, 0]
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new Blob(parts, { type: 'application/x-ndjson' })
    parts.push(value)
    for (const byte of value) if (byte === NEWLINE) rows++
    bytes += value.length
    onRows(rows, bytes)
  }
}

const NEWLINE = 10

/** Gives a file to whoever asked for it. */
export function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** What is wrong with a line of a file. */
export interface LineProblem {
  line: number
  message: string
}

const MOST_PROBLEMS = 50

/** Goes through a file before anything is sent: how many rows it has, and which lines cannot become one. */
export async function checkFile(
  file: Blob,
  schema: RecordSchema,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<{ rows: number; wrong: number; problems: LineProblem[] }> {
  const fields = fieldsOf(schema)
  const problems: LineProblem[] = []
  let [rows, wrong, line, bytes, rest] = [0, 0, 0, 0, '']
  const look = (text: string) => {
    line++
    if (text.trim() === '') return
    const message = problemOf(text, fields)
    if (message === undefined) rows++
    else if (++wrong <= MOST_PROBLEMS) problems.push({ line, message })
  }
  const decoder = new TextDecoder()
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    signal.throwIfAborted()
    if (done) break
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) look(text)
    bytes += value.length
    onBytes(bytes)
  }
  if (rest !== '') look(rest)
  return { rows, wrong, problems }
}

function problemOf(text: string, fields: readonly Field[]): string | undefined {
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch {
    return 'is not valid JSON'
  }
  const data = (row as { data?: unknown } | null)?.data
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    return 'has no “data” with the fields in it'
  const unknown = Object.keys(data).find((name) => fields.every((field) => field.name !== name))
  if (unknown !== undefined) return `has ${unknown}, which is no field of this record`
  const missing = fields.find(
    ({ name, required, default: fallback }) =>
      required && fallback === undefined && ((data as Record<string, unknown>)[name] ?? null) === null,
  )
  return missing && `has no ${missing.name}, which is required`
}

/** Sends a file, and tells how much of it is on its way: fetch tells nobody. */
export function importRows(
  org: string,
  { name, record }: RowsAsked,
  file: Blob,
  { signal, onSent }: { signal: AbortSignal; onSent: (share: number) => void },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `${API}/import?${new URLSearchParams({ name, record })}`)
    request.setRequestHeader('content-type', 'application/x-ndjson')
    request.setRequestHeader('trellis-org', org)
    request.responseType = 'json'
    request.upload.onprogress = ({ loaded, total }) => onSent(total > 0 ? loaded / total : 1)
    request.onload = () => {
      const body = request.response as { imported: number } & ConstructorParameters<typeof ApiError>[0]
      const requestId = request.getResponseHeader('x-request-id')
      if (request.status === 200) resolve(body.imported)
      else if (body?.code) reject(new ApiError({ ...body, status: request.status, requestId }))
      else
        reject(
          new ApiError({
            code: 'UNREADABLE',
            status: request.status,
            message: `The server answered ${request.status}`,
            requestId,
          }),
        )
    }
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(new DOMException('It was stopped', 'AbortError'))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

/** What the server has against lines, and what it says beside. */
export function lineProblemsIn(error: unknown): { problems: LineProblem[]; notes: string[] } {
  const { issues = [] } = (error instanceof ApiError ? error.data : {}) as {
    issues?: { path?: (string | number)[]; message: string }[]
  }
  const isOfLine = ({ path = [] }: { path?: (string | number)[] }) => typeof path[0] === 'number'
  return {
    problems: issues.filter(isOfLine).map(({ path = [], message }) => ({
      line: Number(path[0]),
      message: [...path.slice(2), message].join(' '),
    })),
    notes: issues.filter((issue) => !isOfLine(issue)).map(({ message }) => message),
  }
}

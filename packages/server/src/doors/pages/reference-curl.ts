import type { JsonSchema } from '../api/openapi-document.ts'

interface Sample {
  path: string
  /** What has to stand in the path and the query. */
  asked: Record<string, JsonSchema>
  /** Of the body; undefined where there is none. */
  media: string | undefined
  example: unknown
}

/** A line to paste into a shell, with a body that the operation takes. */
export function curlOf(base: string, { path, asked, media, example }: Sample): string {
  const authorized = '-H "authorization: Bearer $TRELLIS_KEY"'
  const url = `"${base}${addressOf(path, asked)}"`
  if (media === undefined) return `curl -N ${url} ${authorized}`
  if (media !== 'application/json') return `curl ${url} ${authorized} --data-binary @rows.ndjson`
  return `curl ${url} ${authorized} \\
  -H 'content-type: application/json' -d ${quoted(JSON.stringify(example))}`
}

/** The path with what it asks for filled in, and the query behind it. */
function addressOf(path: string, asked: Record<string, JsonSchema>): string {
  let address = path
  const query = new URLSearchParams()
  for (const [name, { examples }] of Object.entries(asked)) {
    const value = String(examples?.[0] ?? name)
    if (address.includes(`{${name}}`)) address = address.replace(`{${name}}`, encodeURIComponent(value))
    else query.set(name, value)
  }
  return query.size > 0 ? `${address}?${query}` : address
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

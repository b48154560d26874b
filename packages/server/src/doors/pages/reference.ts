import {
  type Content,
  followResponse,
  followSchema,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
} from '../api/openapi-document.ts'
import { type Html, html } from './html.ts'
import { type Follow, notation } from './schema-notation.ts'

/** The API reference for people: one page, made from the OpenAPI document, with nothing to load from elsewhere. */
export function referencePage(document: OpenApiDocument): string {
  const base = document.servers?.[0]?.url ?? ''
  const operations = Object.keys(document.paths).map((path) => readOperation(document, path))
  const families = [...Map.groupBy(operations, ({ tag }) => tag)]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} API ${document.info.version}</title>
<link rel="stylesheet" href="/reference.css">
</head>
<body>
<nav>
<h1>${document.info.title} <small>${document.info.version}</small></h1>
${families.map(
  ([tag, members]) => html`<h2>${tag}</h2>
<ul>${members.map(({ path }) => html`<li><a href="#${path.slice(1)}">${path.slice(1)}</a></li>`)}</ul>`,
)}
</nav>
<main>
<p>${document.info.description ?? ''} Send <code>Authorization: Bearer …</code> with a session, an API key or a
repository token; a session acts in the organization that <code>Trellis-Org: …</code> names. For machines there is <a href="/openapi.json">openapi.json</a>; limits are at
<a href="/limits">/limits</a>.</p>
${operations.map((operation) => section(base, operation))}
</main>
</body>
</html>
`.text
}

export const referenceCss = `
:root { color-scheme: light dark; --line: light-dark(#ddd, #333); --code: light-dark(#f5f5f4, #1c1c1c); }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 16rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; box-sizing: border-box; border-right: 1px solid var(--line); }
nav h1 { font-size: 1.1rem; } nav h2 { font-size: .8rem; margin: 1rem 0 .2rem; }
nav ul { list-style: none; margin: 0; padding: 0; } nav a { font-size: .85rem; text-decoration: none; }
main { padding: 1rem 2rem 6rem; max-width: 60rem; }
section { border-top: 1px solid var(--line); padding: 1rem 0; }
section h3 { font-family: ui-monospace, monospace; margin: 0; }
pre { background: var(--code); padding: .8rem; overflow: auto; border-radius: 6px; font-size: .85rem; }
table { border-collapse: collapse; font-size: .85rem; } td { padding: .15rem 1rem .15rem 0; vertical-align: top; }
td pre { margin: 0; padding: .1rem .4rem; }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0 } }
`

interface Declared {
  status: string
  code: string
  message: string
  data: string
}

const schemaOf = (content: Content | undefined): JsonSchema => Object.values(content ?? {})[0]?.schema ?? {}

function readOperation(document: OpenApiDocument, path: string) {
  const { get, post } = document.paths[path] ?? {}
  const operation: OperationObject = get ?? post ?? { responses: {} }
  const { requestBody, responses } = operation
  const follow: Follow = (schema) => followSchema(document, schema)
  const errors = Object.entries(responses).flatMap(([status, response]) =>
    status === '200'
      ? []
      : (schemaOf(followResponse(document, response).content).oneOf ?? []).flatMap((one) =>
          readError(follow, status, one),
        ),
  )
  const asked = parametersOf(operation)
  return {
    method: get ? 'GET' : 'POST',
    path,
    tag: operation.tags?.[0] ?? '',
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    parameters: asked.properties ? notation(follow, asked) : undefined,
    input: requestBody && notation(follow, schemaOf(requestBody.content)),
    output: notation(follow, schemaOf(responses['200']?.content)),
    media: Object.keys(requestBody?.content ?? {})[0],
    example: Object.values(requestBody?.content ?? {})[0]?.example ?? {},
    errors,
  }
}

/** What is asked in the path and the query, as an object. */
function parametersOf({ parameters = [] }: OperationObject): JsonSchema {
  const named = parameters.filter((one) => one.in === 'path' || one.in === 'query')
  if (named.length === 0) return {}
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(({ name = '', schema = {} }) => [name, schema])),
    required: named.flatMap(({ name, required }) => (name && required ? [name] : [])),
  }
}

function readError(follow: Follow, status: string, one: JsonSchema): Declared[] {
  const { code, message, data = {} } = follow(one).properties ?? {}
  if (code?.const === undefined) return []
  const text = String(message?.default ?? '')
  return [{ status, code: String(code.const), message: text, data: notation(follow, data) }]
}

function section(base: string, operation: ReturnType<typeof readOperation>): Html {
  const { method, path, summary, description, parameters, input, output, errors } = operation
  return html`<section id="${path.slice(1)}">
<h3>${method} ${path}</h3>
<p>${summary}. ${description}</p>
${parameters ? html`<details open><summary>Parameters</summary><pre>${parameters}</pre></details>` : ''}
${input ? html`<details open><summary>Request</summary><pre>${input}</pre></details>` : ''}
<details><summary>Response</summary><pre>${output}</pre></details>
<details><summary>Errors</summary><table>${errors.map(
    ({ status, code, message, data }) =>
      html`<tr><td>${status}</td><td><code>${code}</code></td><td>${message}</td><td><pre>${data}</pre></td></tr>`,
  )}</table></details>
<details><summary>curl</summary><pre>${curl(base, operation)}</pre></details>
</section>
`
}

function curl(base: string, { path, media, example }: ReturnType<typeof readOperation>): string {
  const authorized = '-H "authorization: Bearer $TRELLIS_KEY"'
  if (media === undefined) return `curl -N "${base}${path}" ${authorized}`
  if (media !== 'application/json')
    return `curl "${base}${path}?name=hello&record=task" ${authorized} --data-binary @rows.ndjson`
  return `curl ${base}${path} ${authorized} \\
  -H 'content-type: application/json' -d '${JSON.stringify(example)}'`
}

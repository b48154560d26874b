import {
  type Content,
  followResponse,
  followSchema,
  type JsonSchema,
  type OpenApiDocument,
  type OperationObject,
} from '../api/openapi-document.ts'
import { type Html, html } from './html.ts'
import { curlOf } from './reference-curl.ts'
import { REFERENCE_SCRIPT } from './reference-script.ts'
import { type Follow, notation } from './schema-notation.ts'

/** The API reference for people: one page, made from the OpenAPI document, with nothing to load from elsewhere. */
export function referencePage(document: OpenApiDocument, { hasConsole }: { hasConsole: boolean }): string {
  const base = document.servers[0].url
  const operations = Object.keys(document.paths).map((path) => readOperation(document, path))
  const families = [...Map.groupBy(operations, ({ tag }) => tag)]
  const { title, version, description = '' } = document.info
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API ${version}</title>
<link rel="icon" type="image/svg+xml" href="/icon.svg">
<link rel="stylesheet" href="/reference.css">
<script src="/theme.js"></script>
<script type="module" src="${REFERENCE_SCRIPT}"></script>
</head>
<body>
<div class="side">
<header>
<a class="skip" href="#operations">Skip to the operations</a>
<h1>${title} <small>${version}</small></h1>
${hasConsole ? html`<p><a href="/">Back to the console</a></p>` : ''}
<search hidden><label>Find an operation ( / )
<input id="find" type="search" autocomplete="off" spellcheck="false"></label>
<small id="found" role="status"></small></search>
</header>
<nav aria-label="Operations">
${families.map(
  ([tag, members]) => html`<div data-family><h2>${tag}</h2>
<ul>${members.map(({ path }) => html`<li><a href="#${path.slice(1)}">${path.slice(1)}</a></li>`)}</ul></div>`,
)}
</nav>
</div>
<main id="operations">
<p>${description} All of them are below <code>${base}</code>. Send <code>Authorization: Bearer …</code> with a session, an API key or a
repository token; a session acts in the organization that <code>Trellis-Org: …</code> names. For machines there is <a href="/openapi.json">openapi.json</a>; limits are at
<a href="/limits">/limits</a>.</p>
${families.map(
  ([tag, members]) => html`<article data-family><h2>${tag}</h2>
${members.map((operation) => section(base, operation))}</article>`,
)}
</main>
</body>
</html>
`.text
}

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
    asked: Object.fromEntries(
      (asked.required ?? []).map((name) => [name, follow(asked.properties?.[name] ?? {})]),
    ),
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

/** What stands between backticks is code. */
const inProse = (text: string): Html[] =>
  text.split('`').map((part, i) => (i % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))

function section(base: string, operation: ReturnType<typeof readOperation>): Html {
  const { method, path, summary, description, parameters, input, output, errors } = operation
  const id = path.slice(1)
  return html`<section id="${id}">
<h3><a href="#${id}">${method} ${new URL(base).pathname}${path}</a></h3>
<p>${summary}. ${inProse(description)}</p>
${parameters ? html`<details open><summary>Parameters</summary><pre>${parameters}</pre></details>` : ''}
${input ? html`<details open><summary>Request</summary><pre>${input}</pre></details>` : ''}
<details><summary>Response</summary><pre>${output}</pre></details>
<details><summary>Errors</summary><table><thead><tr><th scope="col">Status</th><th scope="col">Code</th>
<th scope="col">Message</th><th scope="col">Data</th></tr></thead><tbody>${errors.map(
    ({ status, code, message, data }) =>
      html`<tr><td>${status}</td><td><code>${code}</code></td><td>${message}</td><td><pre>${data}</pre></td></tr>`,
  )}</tbody></table></details>
<details><summary>curl</summary><pre class="curl">${curlOf(base, operation)}</pre></details>
</section>
`
}

import type { OpenApiDocument } from '../api/openapi.ts'
import { type Html, html } from './html.ts'
import { type JsonSchema, notation } from './schema-notation.ts'

/** The API reference for people: one page, made from the OpenAPI document, with nothing to load from elsewhere. */
export function referencePage(document: OpenApiDocument): string {
  const base = document.servers?.[0]?.url ?? ''
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    item?.post ? [{ path, ...readOperation(item.post as OperationObject) }] : [],
  )
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
repository token. For machines there is <a href="/openapi.json">openapi.json</a>; limits are at
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
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0 } }
`

interface OperationObject {
  tags?: string[]
  summary?: string
  description?: string
  requestBody?: Content
  responses?: Record<string, Content>
}

interface Content {
  content?: { 'application/json'?: { schema?: JsonSchema } }
}

interface Declared {
  status: string
  code: string
  message: string
  data: string
}

const schemaOf = (content: Content | undefined): JsonSchema =>
  content?.content?.['application/json']?.schema ?? {}

function readOperation(operation: OperationObject) {
  const errors = Object.entries(operation.responses ?? {}).flatMap(([status, response]) =>
    status === '200' ? [] : (schemaOf(response).oneOf ?? []).flatMap((one) => readError(status, one)),
  )
  return {
    tag: operation.tags?.[0] ?? '',
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    input: schemaOf(operation.requestBody),
    output: schemaOf(operation.responses?.['200']),
    errors,
  }
}

function readError(status: string, { properties = {} }: JsonSchema): Declared[] {
  const { code, message, data = {} } = properties
  if (code?.const === undefined) return []
  return [{ status, code: String(code.const), message: String(message?.default ?? ''), data: notation(data) }]
}

function section(base: string, operation: { path: string } & ReturnType<typeof readOperation>): Html {
  const { path, summary, description, input, output, errors } = operation
  return html`<section id="${path.slice(1)}">
<h3>POST ${path}</h3>
<p>${summary}. ${description}</p>
<details open><summary>Request</summary><pre>${notation(input)}</pre></details>
<details><summary>Response</summary><pre>${notation(output)}</pre></details>
<details><summary>Errors</summary><table>${errors.map(
    ({ status, code, message, data }) =>
      html`<tr><td>${status}</td><td><code>${code}</code></td><td>${message}</td><td><code>${data}</code></td></tr>`,
  )}</table></details>
<details><summary>curl</summary><pre>${curl(base, path, input)}</pre></details>
</section>
`
}

function curl(base: string, path: string, { properties = {}, required = [] }: JsonSchema): string {
  const example = Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {})]))
  return `curl ${base}${path} -H "authorization: Bearer $TRELLIS_KEY" \\
  -H 'content-type: application/json' -d '${JSON.stringify(example)}'`
}

function exampleOf(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') return []
  if (schema.properties) return {}
  return schema.format === 'email' ? 'ana@example.com' : 'example'
}

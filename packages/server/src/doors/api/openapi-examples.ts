import {
  followSchema,
  type JsonSchema,
  jsonIn,
  type OpenApiDocument,
  operationsIn,
} from './openapi-document.ts'

/** The shortest body a request can have, out of the examples of its fields. */
export function addExamples(document: OpenApiDocument): void {
  for (const { requestBody } of operationsIn(document)) {
    const body = jsonIn(requestBody?.content)
    if (body) body.example = exampleOf(document, body.schema)
  }
}

function exampleOf(document: OpenApiDocument, schema: JsonSchema): unknown {
  const followed = followSchema(document, schema)
  const { examples, type, properties = {}, required = [], items, format, minimum } = followed
  if (examples) return examples[0]
  if (followed.enum) return followed.enum[0]
  if (followed.anyOf?.[0]) return exampleOf(document, followed.anyOf[0])
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, exampleOf(document, properties[name] ?? {})]))
  if (type === 'array') return items ? [exampleOf(document, items)] : []
  if (type === 'integer' || type === 'number') return minimum ?? 1
  if (type === 'boolean') return true
  return format === 'email' ? 'ana@example.com' : 'example'
}

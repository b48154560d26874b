import {
  type JsonSchema,
  jsonIn,
  type OpenApiDocument,
  operationsIn,
  type ResponseObject,
  responseRef,
  schemaRef,
} from './openapi-document.ts'

/** The shape of what no operation declares, such as a bug or a full disk. */
export const UNDECLARED = 'UndeclaredError'

/** Describes each error once, under its code, and every operation by references to those it can give. */
export function shareErrors(document: OpenApiDocument): void {
  const { schemas, responses } = document.components
  responses[UNDECLARED] = {
    description: 'A failure that no operation declares.',
    content: { 'application/json': { schema: { $ref: schemaRef(UNDECLARED) } } },
  }

  function shareError(one: JsonSchema): JsonSchema {
    const code = one.properties?.code?.const
    if (code === undefined) return one
    schemas[String(code)] ??= one
    return { $ref: schemaRef(String(code)) }
  }

  /** A status that stands for one error is shared as a whole. */
  function shareResponse(response: ResponseObject): ResponseObject {
    const variants = jsonIn(response.content)?.schema.oneOf ?? []
    const declared = variants
      .map(({ properties }) => properties)
      .filter((properties) => properties !== undefined)
    const shared: ResponseObject = {
      description: declared.map(({ message }) => message?.default).join('; or: '),
      content: { 'application/json': { schema: { oneOf: variants.map(shareError) } } },
    }
    if (declared.length !== 1) return shared
    const code = String(declared[0]?.code?.const)
    responses[code] ??= shared
    return { $ref: responseRef(code) }
  }

  for (const operation of operationsIn(document)) {
    for (const [status, response] of Object.entries(operation.responses))
      if (status !== '200') operation.responses[status] = shareResponse(response)
    operation.responses.default = { $ref: responseRef(UNDECLARED) }
  }
}

/**
 * As much of OpenAPI as describes this contract, in which every operation is a POST of JSON, and the few streams beside
 * them are a GET or a POST. The types for all of OpenAPI would ask at every step about things that are never there.
 */
export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description?: string }
  servers: [{ url: string }]
  paths: Record<string, { post?: OperationObject; get?: OperationObject }>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, ResponseObject>
    parameters: Record<string, object>
    securitySchemes: Record<string, object>
  }
}

export interface OperationObject {
  tags?: string[]
  summary?: string
  description?: string
  parameters?: ParameterObject[]
  requestBody?: { content: Content }
  responses: Record<string, ResponseObject>
}

interface ParameterObject {
  $ref?: string
  name?: string
  in?: string
  required?: boolean
  schema?: JsonSchema
}

export interface ResponseObject {
  $ref?: string
  description?: string
  content?: Content
}

/** By its media type. */
export type Content = Record<string, { schema: JsonSchema; example?: unknown }>

export const jsonIn = (content: Content | undefined) => content?.['application/json']

export const operationsIn = ({ paths }: OpenApiDocument): OperationObject[] =>
  Object.values(paths).flatMap(({ get, post }) => [...(get ? [get] : []), ...(post ? [post] : [])])

/** As much of JSON Schema as the contract uses. */
export interface JsonSchema {
  $ref?: string
  type?: string
  description?: string
  examples?: unknown[]
  const?: unknown
  enum?: unknown[]
  default?: unknown
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

export const schemaRef = (name: string) => `#/components/schemas/${name}`
export const responseRef = (name: string) => `#/components/responses/${name}`

/** What a schema refers to, with what it says itself beside; any other schema as it is. */
export function followSchema({ components }: OpenApiDocument, schema: JsonSchema): JsonSchema {
  const { $ref, ...beside } = schema
  return $ref === undefined ? schema : { ...components.schemas[nameIn($ref)], ...beside }
}

export function followResponse({ components }: OpenApiDocument, response: ResponseObject): ResponseObject {
  return response.$ref === undefined ? response : (components.responses[nameIn(response.$ref)] ?? response)
}

const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

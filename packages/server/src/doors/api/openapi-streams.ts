import { type StreamMeta, streams } from '@trellis/contract'
import type { Content, OpenApiDocument, OperationObject } from './openapi-document.ts'

/** What is sent as events or as lines, not as JSON: the schema is that of each of them. */
export function describeStreams({ paths }: OpenApiDocument): void {
  for (const procedure of Object.values(streams)) {
    const { route, meta } = procedure['~orpc']
    const described = paths[route.path ?? '']
    const operation = route.method === 'GET' ? described?.get : described?.post
    if (operation) inMedia(operation, meta)
  }
}

function inMedia(operation: OperationObject, { request, answer, ends }: StreamMeta): void {
  const { requestBody, responses } = operation
  const answered = responses['200']
  const of = (content: Content = {}, { media, example }: StreamMeta['answer']): Content => ({
    // What is JSON after all is shown as what it is.
    [media]: {
      schema: {},
      ...content['application/json'],
      example: media === 'application/json' ? JSON.parse(example) : example,
    },
  })
  if (request && requestBody) requestBody.content = of(requestBody.content, request)
  if (answered) responses['200'] = { ...answered, content: of(answered.content, answer) }
  if (ends) responses['204'] = { description: 'All of it has been told.' }
  // Plain values, which the generator takes for objects.
  const asked = (operation.parameters ?? []).map(({ $ref: _, ...one }) => ({
    ...{ name: one.name, in: one.in, ...(one.required && { required: true }) },
    schema: one.schema,
  }))
  operation.parameters = [...asked, { $ref: '#/components/parameters/TrellisOrg' }]
}

import { OpenAPIGenerator } from '@orpc/openapi'
import { API_PREFIX, contract, INTERFACE_VERSION, type OperationMeta, streams } from '@trellis/contract'
import { allOperations } from '../../operations/implement.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { shareErrors, UNDECLARED } from './openapi-errors.ts'
import { addExamples } from './openapi-examples.ts'
import { createSchemaConverter, sharedSchemas } from './openapi-schemas.ts'
import { describeStreams } from './openapi-streams.ts'

/** The OpenAPI 3.1 document of the whole contract. */
export async function generateOpenApi(baseUrl: string): Promise<OpenApiDocument> {
  const generator = new OpenAPIGenerator({ schemaConverters: [createSchemaConverter()] })
  const document = (await generator.generate(
    { ...contract, streams },
    {
      info: {
        title: 'Trellis',
        version: INTERFACE_VERSION,
        description:
          'A git host that can be programmed. Every operation is a POST with a JSON body, but for what streams; every failure has one envelope.',
      },
      servers: [{ url: `${baseUrl}${API_PREFIX}` }],
      security: [{ bearer: [] }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A session, an API key, a repository token or the token of an agent.',
          },
        },
        parameters: { TrellisOrg: orgHeader },
        responses: {},
      },
      commonSchemas: { ...sharedSchemas, [UNDECLARED]: { error: 'UndefinedError' } },
    },
  )) as OpenApiDocument

  offerOrgHeader(document)
  shareErrors(document)
  addExamples(document)
  describeStreams(document)
  return document
}

const orgHeader = {
  name: 'Trellis-Org',
  in: 'header' as const,
  description:
    "The slug of the organization to act in. A session acts in the person's own when it is left out; any other credential in the one it was made in, and nowhere else.",
  schema: { $ref: '#/components/schemas/OrgSlug' },
}

/** Wherever a credential counts, so does the organization it is to act in. */
function offerOrgHeader({ paths }: OpenApiDocument): void {
  for (const { path, procedure } of allOperations()) {
    const { ignoresCredential } = procedure['~orpc'].meta as OperationMeta
    const operation = paths[path]?.post
    if (operation && !ignoresCredential)
      operation.parameters = [{ $ref: '#/components/parameters/TrellisOrg' }]
  }
}

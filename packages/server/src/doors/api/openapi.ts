import { OpenAPIGenerator } from '@orpc/openapi'
import { ZodToJsonSchemaConverter } from '@orpc/zod/zod4'
import { API_PREFIX, contract, INTERFACE_VERSION } from '@trellis/contract'

export type OpenApiDocument = Awaited<ReturnType<OpenAPIGenerator['generate']>>

/** The OpenAPI 3.1 document of the whole contract. */
export async function generateOpenApi(baseUrl: string): Promise<OpenApiDocument> {
  const generator = new OpenAPIGenerator({ schemaConverters: [new ZodToJsonSchemaConverter()] })
  return generator.generate(contract, {
    info: {
      title: 'Trellis',
      version: INTERFACE_VERSION,
      description:
        'A git host that can be programmed. Every operation is a POST with a JSON body; every failure has one envelope.',
    },
    servers: [{ url: `${baseUrl}${API_PREFIX}` }],
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  })
}

import * as z from 'zod'
import { ExtensionDescriptor, WebhookDescriptor } from './descriptor-schema.ts'

export interface PublishedSchemas {
  extension: object
  webhook: object
}

/** What editors complete descriptors with. In draft-07, which is what they know; the server asks for a little more. */
export const publishedSchemas: PublishedSchemas = {
  extension: publish(ExtensionDescriptor),
  webhook: publish(WebhookDescriptor),
}

function publish(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' })
}

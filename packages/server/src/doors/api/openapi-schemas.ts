import { ZodToJsonSchemaConverter } from '@orpc/zod/zod4'
import * as published from '@trellis/contract'
import * as z from 'zod'

/** Shapes that say themselves what they are: a reference would only hide it. The envelope is written out by error. */
const inline = new Set<unknown>([
  published.AnyJson,
  published.JsonObject,
  published.StringList,
  published.Uuid,
  published.NextCursor,
  published.ErrorEnvelope,
  published.RowConditions,
  published.RowsPlace,
  published.ArchiveAsked,
  published.RawAsked,
  published.RunId,
])

/** What the contract exports under a name is described once, under that name. */
export const sharedSchemas: Record<string, { schema: z.ZodType }> = Object.fromEntries(
  Object.entries(published).flatMap(([name, schema]) =>
    schema instanceof z.ZodType && !inline.has(schema) ? [[name, { schema }]] : [],
  ),
)

/**
 * `.describe()` makes a copy, which the converter would write out in full. A copy that only says something else still
 * refers to the shared schema, and says it beside.
 */
export const createSchemaConverter = () =>
  new ZodToJsonSchemaConverter({
    interceptors: [
      ({ schema, options, next }) => {
        const { parent, def } = schema._zod
        // What zod cannot describe by itself says in its meta what it is.
        if (def.type === 'custom') return [true, { ...z.globalRegistry.get(schema) }]
        const isCopy = parent !== undefined && parent._zod.def === def
        const shared = isCopy && options.components?.find((component) => component.schema === parent)
        if (!shared) return next()
        const { description, examples } = z.globalRegistry.get(schema) ?? {}
        return [
          shared.required,
          {
            $ref: shared.ref,
            ...(description && { description }),
            ...(Array.isArray(examples) && { examples }),
          },
        ]
      },
    ],
  })

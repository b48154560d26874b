// What the files say that declare extensions and webhooks. Stricter than what is answered: a key nobody knows is a typo.

import { AnyJson, ExtensionName, JsonObject, RecordName, Runtime } from '@trellis/contract'
import * as z from 'zod'

/** The types a field of a record can have, each with what it may ask for beside. */
const fieldName = z
  .string()
  .max(64, 'A name has up to 64 characters')
  .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'Use letters, digits and underscores, starting with a letter')
  .refine((name) => !(name in Object.prototype), 'This name is taken by JavaScript: choose another')

const common = {
  required: z.boolean().optional().describe('Whether every row has a value.'),
  unique: z.boolean().optional().describe('Whether no two rows have the same value.'),
}
const length = { maxLength: z.int().min(1).max(1_000_000).optional().describe('In code points.') }
const range = {
  min: z.number().optional().describe('The lowest value.'),
  max: z.number().optional().describe('The highest value.'),
}
const type = <T extends z.ZodType>(of: T) => of.describe('What the field holds.')
const fallback = <T extends z.ZodType>(of: T) =>
  of.optional().describe('What a new row has when nothing is given.')

const RecordField = z.discriminatedUnion('type', [
  z.strictObject({
    type: type(z.enum(['string', 'text'])),
    ...common,
    ...length,
    default: fallback(z.string()),
  }),
  z.strictObject({ type: type(z.literal('integer')), ...common, ...range, default: fallback(z.int()) }),
  z.strictObject({ type: type(z.literal('number')), ...common, ...range, default: fallback(z.number()) }),
  z.strictObject({ type: type(z.literal('timestamp')), ...common, ...range, default: fallback(z.int()) }),
  z.strictObject({ type: type(z.literal('boolean')), ...common, default: fallback(z.boolean()) }),
  z.strictObject({
    type: type(z.literal('json')),
    required: common.required,
    default: fallback(z.unknown()),
  }),
  z.strictObject({
    type: type(z.literal('enum')),
    ...common,
    values: z.array(z.string().min(1).max(100)).min(1).max(200).describe('All it may be.'),
    transitions: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe('From a value to those that may follow it. Any may when left out.'),
    default: fallback(z.string()),
  }),
  z.strictObject({
    type: type(z.literal('ref')),
    ...common,
    record: RecordName.describe('The record whose rows it refers to.'),
  }),
])

const Record = z
  .strictObject({
    name: RecordName.max(64).describe(
      'What rows are asked for by. One extension of a repository declares it.',
    ),
    fields: z
      .record(fieldName, RecordField)
      .describe('What rows hold, by the names of the fields; up to 64.'),
    indexes: z
      .array(z.string())
      .optional()
      .describe('Up to 16 lists of fields that rows are looked up by: `a`, or `a,b` for two together.'),
    hooks: z
      .strictObject({
        onCreate: z.boolean().optional().describe('Every new row starts a run.'),
        onTransition: z
          .boolean()
          .optional()
          .describe('Every change of a value that has `transitions` starts a run.'),
      })
      .optional()
      .describe('What starts a run of this extension.'),
    drop: z
      .array(z.string())
      .optional()
      .describe('Fields that are gone and whose data may go with them. No part of the schema.'),
  })
  .describe('A collection of rows that this extension declares.')
export type DeclaredRecord = z.infer<typeof Record>

const Patterns = z.array(z.string())

const On = z.strictObject({
  push: z
    .strictObject({
      branches: Patterns.optional().describe('Patterns of short names. Any ref when left out.'),
      paths: Patterns.optional().describe('Patterns of files, one of which must have changed.'),
    })
    .optional()
    .describe('Pushes.'),
  event: z
    .strictObject({
      types: z.array(z.string()).min(1).max(32).describe('Types of events, or patterns: `git.*`.'),
      subject: z.string().min(1).optional().describe('A pattern of what it is about: `task/*`.'),
      from: z.string().min(1).optional().describe('A kind of actor, the id of one, or both: `agent:reg_…`.'),
    })
    .optional()
    .describe('Events of the repository.'),
})

/** Host names, with `*.` before them for all below. */
const HOST = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
const FIXED = ['repo:read', 'repo:write', 'records:read', 'records:write', 'events:emit', 'runs:dispatch']

const isCapability = (text: string) =>
  FIXED.includes(text) ||
  (text.startsWith('net:') && text.length <= 260 && HOST.test(text.slice(4))) ||
  /^secret:[A-Z][A-Z0-9_]{0,63}$/.test(text)

const Capability = z
  .string()
  .refine(isCapability, `This is no capability: use ${FIXED.join(', ')}, net:<host> or secret:<NAME>`)
  .meta({ examples: [...FIXED, 'net:api.example.com', 'secret:API_TOKEN'] })

const MODULE_ENDINGS = ['.ts', '.tsx', '.js', '.mjs']

const ModulePath = z
  .string()
  .max(500)
  .refine(
    (path) => MODULE_ENDINGS.some((ending) => path.endsWith(ending)) && isInside(path),
    `Name a file in this folder that ends with ${MODULE_ENDINGS.join(', ')}`,
  )

const isInside = (path: string) =>
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'))

export const ExtensionDescriptor = z
  .strictObject({
    $schema: z.string().optional().describe('For editors.'),
    version: AnyJson.meta({ description: "The author's.", examples: [1, '1.2.0'] }),
    name: ExtensionName.describe('That of the folder.'),
    description: z.string().max(512).optional().describe('For whoever looks at the list.'),
    runtime: Runtime.optional().describe('Where it runs; `worker` when left out.'),
    module: ModulePath.optional().describe('The file whose default export is run; `index.ts` when left out.'),
    dispatch: z.boolean().optional().describe('Whether it may be run on request.'),
    capabilities: z
      .array(Capability)
      .max(100)
      .optional()
      .describe('All that a run can reach: what is not here is not there.'),
    inputSchema: JsonObject.optional().describe('A JSON Schema that the input of a run must meet.'),
    outputSchema: JsonObject.optional().describe('A JSON Schema that the output of a run must meet.'),
    record: Record.optional(),
    on: On.optional().describe('What starts a run: pushes, events, or either.'),
    daemon: z
      .strictObject({
        scheduleIntervalMinutes: z.int().min(5).max(525_600).describe('How often it is woken.'),
        onEventTypes: z
          .array(z.string().min(1))
          .min(1)
          .max(32)
          .optional()
          .describe('Types of events that wake it as well, or patterns.'),
      })
      .optional()
      .describe('Wakes it by the clock, and by events.'),
  })
  .meta({ title: 'A Trellis extension' })
export type ExtensionDescriptor = z.infer<typeof ExtensionDescriptor>

export const WebhookDescriptor = z
  .strictObject({
    $schema: z.string().optional().describe('For editors.'),
    url: z
      .url({ protocol: /^https?$/, error: 'Give an http or https URL' })
      .max(2048)
      .describe('Where events are delivered to.'),
    on: On.optional().describe('What it hears: pushes, events, or either; everything when left out.'),
    contentType: z
      .string()
      .max(100)
      .regex(/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(; ?charset=[a-z0-9-]+)?$/i, 'This is no media type')
      .optional()
      .describe('`application/json` when left out. Without `payload` it must be JSON.'),
    payload: ModulePath.optional().describe('A file whose default export makes the body of an event.'),
  })
  .meta({ title: 'A Trellis webhook' })
export type WebhookDescriptor = z.infer<typeof WebhookDescriptor>

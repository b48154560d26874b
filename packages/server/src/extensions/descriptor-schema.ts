// What the files say that declare extensions and webhooks. Stricter than what is answered: a key nobody knows is a typo.

import { AnyJson, ExtensionName, JsonObject, RecordName, Runtime } from '@trellis/contract'
import * as z from 'zod'

/** The types a field of a record can have, each with what it may ask for beside. */
const fieldName = z
  .string()
  .max(64, 'A name has up to 64 characters')
  .regex(/^[A-Za-z][A-Za-z0-9_]*$/, 'Use letters, digits and underscores, starting with a letter')
  .refine((name) => !(name in Object.prototype), 'This name is taken by JavaScript: choose another')

const common = { required: z.boolean().optional(), unique: z.boolean().optional() }
const length = { maxLength: z.int().min(1).max(1_000_000).optional() }
const range = { min: z.number().optional(), max: z.number().optional() }

const RecordField = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['string', 'text']), ...common, ...length, default: z.string().optional() }),
  z.strictObject({ type: z.literal('integer'), ...common, ...range, default: z.int().optional() }),
  z.strictObject({ type: z.literal('number'), ...common, ...range, default: z.number().optional() }),
  z.strictObject({ type: z.literal('timestamp'), ...common, ...range, default: z.int().optional() }),
  z.strictObject({ type: z.literal('boolean'), ...common, default: z.boolean().optional() }),
  z.strictObject({ type: z.literal('json'), required: common.required, default: z.unknown() }),
  z.strictObject({
    type: z.literal('enum'),
    ...common,
    values: z.array(z.string().min(1).max(200)).min(1).max(256),
    transitions: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe('From a value to those that may follow it.'),
    default: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('ref'), ...common, record: RecordName, default: z.string().optional() }),
])

const Record = z
  .strictObject({
    name: RecordName.max(64),
    fields: z.record(fieldName, RecordField),
    indexes: z.array(z.string()).optional().describe('Fields to look rows up by; `a,b` for two together.'),
    hooks: z
      .strictObject({ onCreate: z.boolean().optional(), onTransition: z.boolean().optional() })
      .optional()
      .describe('What starts a run of this extension.'),
    drop: z.array(z.string()).optional().describe('Fields that are gone and whose data may go with them.'),
  })
  .describe('A collection of rows that this extension declares.')
export type DeclaredRecord = z.infer<typeof Record>

const Patterns = z.array(z.string())

const On = z.strictObject({
  push: z.strictObject({ branches: Patterns.optional(), paths: Patterns.optional() }).optional(),
  event: z
    .strictObject({
      types: z.array(z.string()).min(1).max(32),
      subject: z.string().min(1).optional(),
      from: z.string().min(1).optional(),
    })
    .optional(),
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
    version: AnyJson.meta({ description: "The author's, any JSON.", examples: [1, '1.2.0'] }),
    name: ExtensionName.describe('That of the folder.'),
    description: z.string().max(512).optional(),
    runtime: Runtime.optional().describe('Where it runs; `worker` when left out.'),
    module: ModulePath.optional().describe('The file whose default export is run; `index.ts` when left out.'),
    dispatch: z.boolean().optional().describe('Whether it may be run on request.'),
    capabilities: z.array(Capability).max(100).optional().describe('All that a run can reach.'),
    inputSchema: JsonObject.optional().describe('A JSON Schema that the input of a run must meet.'),
    outputSchema: JsonObject.optional().describe('A JSON Schema that the output of a run must meet.'),
    record: Record.optional(),
    on: On.optional().describe('What starts a run: pushes, events, or either.'),
    daemon: z
      .strictObject({
        scheduleIntervalMinutes: z.int().min(5).max(525_600),
        onEventTypes: z.array(z.string().min(1)).min(1).max(32).optional(),
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

import type { Subscription } from '@trellis/contract'
import type * as z from 'zod'
import { subscriptionIssues } from '../events/subscriptions.ts'
import { hashOfJson, type Sha256 } from '../platform/hashes.ts'
import { shapeWords } from '../platform/shape-words.ts'
import { parseSchema } from '../records/schema.ts'
import { receiverProblem } from '../webhooks/receivers.ts'
import { ExtensionDescriptor, WebhookDescriptor } from './descriptor-schema.ts'
import { schemaProblems } from './json-schemas.ts'
import { firstProblems, type JsonPath, type JsonProblem, locate, type Problem } from './problems.ts'
import { readJson } from './read-json.ts'

const PROBLEMS_SHOWN = 50

export type Parsed<T> =
  | {
      descriptor: T
      /** As it was written, and the hash of that. */
      json: unknown
      hash: Sha256
      problems?: undefined
    }
  | { problems: Problem[] }

/** An `extension.json`, with everything that is wrong with it. */
export function parseExtension(file: string, name: string, bytes: Uint8Array): Parsed<ExtensionDescriptor> {
  return parse(file, ExtensionDescriptor, bytes, (descriptor) => [
    ...(descriptor.name === undefined || descriptor.name === name
      ? []
      : [{ at: ['name'], message: `The name must be that of the folder: ${name}` }]),
    ...repeated(descriptor.capabilities ?? [], ['capabilities']),
    ...schemaProblems(descriptor.inputSchema, ['inputSchema']),
    ...schemaProblems(descriptor.outputSchema, ['outputSchema']),
    ...recordProblems(descriptor.record),
    ...subscriptionProblems(descriptor.on),
    ...subscriptionProblems(
      descriptor.daemon?.onEventTypes && { event: { types: descriptor.daemon.onEventTypes } },
      ['daemon', 'onEventTypes'],
    ),
  ])
}

export function parseWebhook(file: string, bytes: Uint8Array): Parsed<WebhookDescriptor> {
  return parse(file, WebhookDescriptor, bytes, ({ url, on, contentType, payload }) => [
    ...urlProblems(url),
    ...subscriptionProblems(on),
    ...(contentType !== undefined && payload === undefined && !JSON_TYPE.test(contentType)
      ? [{ at: ['contentType'], message: 'Without a payload module bodies are JSON: use application/json' }]
      : []),
  ])
}

const JSON_TYPE = /^application\/([a-z0-9!#$&^_.+-]+\+)?json(; ?charset=utf-8)?$/i

/** What is wrong with it wherever it is read. Whether its host may be reached is for the server to say that promotes it. */
function urlProblems(url: string | undefined): JsonProblem[] {
  const message = url === undefined ? undefined : receiverProblem(url)
  return message ? [{ at: ['url'], message }] : []
}

function parse<S extends z.ZodObject>(
  file: string,
  schema: S,
  bytes: Uint8Array,
  rules: (descriptor: Partial<z.infer<S>>) => JsonProblem[],
): Parsed<z.infer<S>> {
  const located = (problems: readonly JsonProblem[]) => ({
    problems: firstProblems(
      problems.map((problem) => locate(file, problem)),
      PROBLEMS_SHOWN,
      file,
    ),
  })
  const read = readJson(bytes)
  if (read.problems) return located(read.problems)
  const parsed = schema.safeParse(read.value, { error: shapeWords })
  if (!parsed.success)
    return located([...parsed.error.issues.flatMap(problemsOf), ...rules(soundPart(schema, read.value))])
  const problems = rules(parsed.data)
  return problems.length > 0
    ? located(problems)
    : { descriptor: parsed.data, json: read.value, hash: hashOfJson(read.value) }
}

/** The keys with nothing wrong in their shape, so that what else is wrong with them is told at the same time. */
function soundPart<S extends z.ZodObject>(schema: S, value: unknown): Partial<z.infer<S>> {
  if (typeof value !== 'object' || value === null) return {}
  const sound = Object.entries(value).flatMap(([key, item]) => {
    const parsed = Object.hasOwn(schema.shape, key) ? schema.shape[key]?.safeParse(item) : undefined
    return parsed?.success ? [[key, parsed.data]] : []
  })
  return Object.fromEntries(sound) as Partial<z.infer<S>>
}

/** Each unknown key is told at its own place. */
function problemsOf(issue: z.core.$ZodIssue): JsonProblem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ at: [...issue.path, key], message: 'Unknown key' }))
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ at: issue.path, message }))
  return [{ at: issue.path, message: issue.message }]
}

/** What the shape of a declared record cannot say. */
function recordProblems(record: object | undefined): JsonProblem[] {
  const { issues = [] } = record ? parseSchema(record) : {}
  return issues.map(({ path = [], message }) => ({ at: ['record', ...path], message }))
}

function repeated(values: readonly string[], at: JsonPath): JsonProblem[] {
  return values.flatMap((value, i) =>
    values.indexOf(value) < i ? [{ at: [...at, i], message: `${value} is here twice` }] : [],
  )
}

function subscriptionProblems(on: Subscription | undefined, instead?: JsonPath): JsonProblem[] {
  return subscriptionIssues(on ?? {}, []).map(({ path = [], message }) => ({
    at: instead ? [...instead, ...path.slice(2)] : ['on', ...path],
    message,
  }))
}

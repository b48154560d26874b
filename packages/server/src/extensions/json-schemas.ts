// Whether a JSON Schema that anybody may have written can be used: it is one, all it refers to is inside of it, and to
// hold a value against it takes time in proportion.
//
// ajv, because it holds schemas against the standard and tells each problem at its place, and because it lets the
// engine of regular expressions be chosen. V8's would take years for some expressions; RE2's takes linear time for all
// it accepts, so an expression is good if RE2 takes it.

import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import type { JsonPath, JsonProblem } from './problems.ts'

type Node = Record<string, unknown>

const DRAFT_7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

/** Keywords whose subschemas are held against the same value. */
const SAME_VALUE = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']
const SINGLE = [
  'not',
  'if',
  'then',
  'else',
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
]
const UNSUPPORTED = ['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef']

/** To look at one takes a hundredth of a millisecond, and others wait. */
const MAX_SUBSCHEMAS = 2000
const MAX_PATTERN_CHARACTERS = 1000
/** Of all patterns of a schema, with all repetitions written out. */
const MAX_PATTERN_STEPS = 50_000
/** A class of Unicode is a list of hundreds of ranges. */
const CLASS_STEPS = 100
/** Subschemas that one value may be held against, each counted as often as it is referred to. */
const MAX_STEPS = 10_000

const options = { strict: false, allErrors: true, logger: false, validateFormats: false } as const
const draft7 = new Ajv(options)
const draft2020 = new Ajv2020(options)

/** Which of the two drafts it is written in. */
export const isDraft7 = ({ $schema }: Node): boolean => typeof $schema === 'string' && DRAFT_7.test($schema)

export function schemaProblems(schema: Node | undefined, at: JsonPath): JsonProblem[] {
  if (!schema) return []
  const { $schema = '' } = schema
  if (typeof $schema !== 'string' || ($schema && !DRAFT_7.test($schema) && !DRAFT_2020.test($schema)))
    return [{ at: [...at, '$schema'], message: 'Use JSON Schema 2020-12 or draft-07' }]
  const nodes = collect(schema)
  if (nodes.size > MAX_SUBSCHEMAS)
    return [{ at, message: `A schema is made of up to ${MAX_SUBSCHEMAS} schemas` }]
  const ajv = isDraft7(schema) ? draft7 : draft2020
  const { $schema: _, ...rest } = schema
  if (!ajv.validateSchema(rest))
    return (ajv.errors ?? []).map(({ instancePath, message = 'is wrong' }) => ({
      at: [...at, ...pointerKeys(instancePath)],
      message: `This is not a JSON Schema: it ${message}`,
    }))
  const steps = [...nodes.keys()].flatMap(patternsOf).reduce((sum, pattern) => sum + patternSteps(pattern), 0)
  if (steps > MAX_PATTERN_STEPS)
    return [{ at, message: 'The regular expressions of this schema are too large together' }]
  const problems = [...nodes].flatMap(([node, where]) =>
    nodeProblems(schema, node).map((problem) => ({ ...problem, at: [...at, ...where, ...problem.at] })),
  )
  return problems.length > 0 ? problems : stepProblems(schema, at)
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every subschema, and where it is, up to one too many. Not deeper than the file may be, so recursion is safe. */
function collect(root: Node): Map<Node, JsonPath> {
  const found = new Map<Node, JsonPath>()
  const visit = (value: unknown, at: JsonPath): void => {
    if (!isNode(value) || found.size > MAX_SUBSCHEMAS) return
    found.set(value, at)
    for (const [child, below] of childrenOf(value)) visit(child, [...at, ...below])
  }
  visit(root, [])
  return found
}

function childrenOf(node: Node): [unknown, JsonPath][] {
  const inLists = LISTS.flatMap((key) => {
    const value = own(node, key)
    return Array.isArray(value) ? value.map((item, i): [unknown, JsonPath] => [item, [key, i]]) : []
  })
  const inMaps = MAPS.flatMap((key) => {
    const value = own(node, key)
    return isNode(value)
      ? Object.entries(value).map(([name, item]): [unknown, JsonPath] => [item, [key, name]])
      : []
  })
  const single = SINGLE.map((key): [unknown, JsonPath] => [own(node, key), [key]])
  return [...inLists, ...inMaps, ...single]
}

function own(node: Node, key: string): unknown {
  return Object.hasOwn(node, key) ? node[key] : undefined
}

function nodeProblems(root: Node, node: Node): JsonProblem[] {
  const problems: JsonProblem[] = []
  for (const key of UNSUPPORTED)
    if (Object.hasOwn(node, key))
      problems.push({ at: [key], message: `${key} cannot be used: refer with $ref and a pointer` })
  if (node !== root && Object.hasOwn(node, '$id'))
    problems.push({ at: ['$id'], message: 'Only the whole schema may have an $id' })
  const ref = own(node, '$ref')
  if (ref !== undefined && !target(root, ref))
    problems.push({
      at: ['$ref'],
      message: 'This leads nowhere: a $ref is # or a pointer into the same schema, such as #/$defs/name',
    })
  const pattern = own(node, 'pattern')
  if (typeof pattern === 'string') problems.push(...patternProblems(pattern, ['pattern']))
  const byPattern = own(node, 'patternProperties')
  if (isNode(byPattern))
    for (const key of Object.keys(byPattern))
      problems.push(...patternProblems(key, ['patternProperties', key]))
  return problems
}

function patternsOf(node: Node): string[] {
  const pattern = own(node, 'pattern')
  const byPattern = own(node, 'patternProperties')
  return [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isNode(byPattern) ? Object.keys(byPattern) : []),
  ]
}

/** How large it gets: RE2 writes repetitions out. A count that is too large for it is told by RE2 itself. */
function patternSteps(pattern: string): number {
  const groups = [0]
  let last = 0
  const add = (size: number) => {
    last = size
    groups.push((groups.pop() ?? 0) + size)
  }
  const tokens = /\\.|\[(?:\\.|[^\]\\])*\]|\{(\d{1,4})(?:,(\d{0,4}))?\}|./gsu
  for (const [token, least, most] of pattern.matchAll(tokens))
    if (token === '(') groups.push(0)
    else if (token === ')' && groups.length > 1) add(groups.pop() ?? 0)
    else if (least !== undefined) {
      const size = last
      add(size * (Math.max(1, Number(most || least)) - 1))
      last += size
    } else add(/\\p/i.test(token) ? CLASS_STEPS : 1)
  return groups.reduce((sum, size) => sum + size, 0)
}

function patternProblems(pattern: string, at: JsonPath): JsonProblem[] {
  if (pattern.length > MAX_PATTERN_CHARACTERS)
    return [{ at, message: `A regular expression has up to ${MAX_PATTERN_CHARACTERS} characters` }]
  try {
    new RegExp(pattern, 'u')
    RE2JS.compile(RE2JS.translateRegExp(pattern))
    return []
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [{ at, message: `This regular expression cannot be used: ${reason}` }]
  }
}

function target(root: Node, ref: unknown): Node | boolean | undefined {
  if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return undefined
  let value: unknown = root
  for (const key of pointerKeys(decode(ref.slice(1)))) {
    if (Array.isArray(value)) value = value[Number(key)]
    else value = isNode(value) ? own(value, String(key)) : undefined
  }
  return isNode(value) || typeof value === 'boolean' ? value : undefined
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const pointerKeys = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))

/** References make a small text stand for something large, or for something without an end. */
function stepProblems(root: Node, at: JsonPath): JsonProblem[] {
  const known = new Map<Node, number | 'counting'>()
  let endless = false

  function stepsOf(node: Node): number {
    const seen = known.get(node)
    if (seen === 'counting') endless = true
    if (seen !== undefined) return seen === 'counting' ? 0 : seen
    known.set(node, 'counting')
    const referred = target(root, own(node, '$ref'))
    const below = childrenOf(node).filter(([, [key]]) => SAME_VALUE.includes(String(key)))
    const targets = [...below.map(([child]) => child), referred].filter(isNode)
    const steps = targets.reduce((sum, child) => Math.min(sum + stepsOf(child), MAX_STEPS + 1), 1)
    known.set(node, steps)
    return steps
  }

  for (const [node, where] of collect(root)) {
    const steps = stepsOf(node)
    const message = endless
      ? 'This refers to itself without an end'
      : steps > MAX_STEPS && 'This refers to too much: a value would have to be held against it too often'
    if (message) return [{ at: [...at, ...where], message }]
  }
  return []
}

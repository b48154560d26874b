// What clients send who mean no good, or do not know better: the same for the same seed.

// biome-ignore lint/suspicious/noExplicitAny: JSON Schema, read by hand below.
export type JsonSchema = any

type Random = ReturnType<typeof createRandom>

/** Randomness that can be repeated. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    chance: (probability: number) => next() < probability,
    pick: <T>(values: readonly T[]): T => values[below(values.length)] as T,
  }
}

/** A value that its schema allows, as far as can be told, with words that mean something where there are some. */
function plausible(random: Random, schema: JsonSchema, words: Record<string, unknown[]>, name = ''): unknown {
  const known = words[name]
  if (known && schema.type === 'string' && !schema.enum && random.chance(0.9)) return random.pick(known)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return random.pick(schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return plausible(random, random.pick(choices), words, name)
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  switch (type) {
    case 'object': {
      const entries = Object.entries<JsonSchema>(schema.properties ?? {})
        .filter(([key]) => schema.required?.includes(key) || random.chance(0.3))
        .map(([key, property]) => [key, plausible(random, property, words, key)])
      return Object.fromEntries(entries)
    }
    case 'array': {
      const length = Math.max(schema.minItems ?? 0, random.below(3))
      return Array.from({ length }, () => plausible(random, schema.items ?? {}, words))
    }
    case 'integer':
    case 'number': {
      const min = Math.max(schema.minimum ?? 0, 0)
      return min + random.below(Math.min((schema.maximum ?? 100) - min, 100) + 1)
    }
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'string':
      if (schema.format === 'uuid') return '0190b5a4-7d3c-7000-8000-000000000000'
      if (schema.format === 'email') return 'somebody@example.com'
      return 'x'.repeat(Math.max(schema.minLength ?? 1, 1 + random.below(8)))
    default:
      return {}
  }
}

const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)

const hostileValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  5e-324,
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfff',
  '\u202e\u200b\ufeff',
  '💥'.repeat(40),
  'é',
  '\r\nX: y',
  '../../etc/passwd',
  "'; drop table repos; --",
  '" or 1=1',
  '%00%0a',
  '$'.concat('{7*7}{{7*7}}'),
  '<script>alert(1)</script>',
  '-rf',
  '--help',
  'a'.repeat(65),
  'a'.repeat(100_000),
  'NaN',
  '9007199254740993',
  [],
  [null],
  [[[[]]]],
  Array(2000).fill('x'),
  {},
  { length: 1e9 },
  { toString: 1, valueOf: 2, ['th'.concat('en')]: 3 },
  Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])),
  { $gt: '' },
]

/** A copy: it may be changed further. */
const hostileValue = (random: Random): unknown => structuredClone(random.pick(hostileValues))

const strangeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  '\0',
  'a'.repeat(5000),
]

/** One body in many is left as it is, so that what lies behind the schemas is met as well. */
export function hostileBody(
  random: Random,
  schema: JsonSchema,
  words: Record<string, unknown[]>,
): Buffer | undefined {
  const value = plausible(random, schema, words)
  if (random.chance(0.3)) return Buffer.from(JSON.stringify(value))
  if (random.chance(0.15)) return hostileText(random, JSON.stringify(value))
  if (random.chance(0.1)) return Buffer.from(JSON.stringify(random.pick(hostileValues)))
  const body = value as Record<string, unknown>
  for (let changes = 1 + random.below(3); changes > 0; changes--) mutate(random, body, schema)
  let text = JSON.stringify(body)
  // As text: in an object literal it would be the prototype, not a key.
  if (random.chance(0.2)) {
    const extra = `${JSON.stringify(random.pick(strangeKeys))}:${JSON.stringify(random.pick(hostileValues))}`
    text = text === '{}' ? `{${extra}}` : `{${extra},${text.slice(1)}`
  }
  return Buffer.from(text)
}

function mutate(random: Random, body: Record<string, unknown>, schema: JsonSchema): void {
  const keys = Object.keys(schema.properties ?? {})
  if (keys.length === 0) return
  const key = random.pick(keys)
  const inner = body[key]
  if (random.chance(0.15)) delete body[key]
  else if (inner && typeof inner === 'object' && !Array.isArray(inner) && random.chance(0.5))
    mutate(random, inner as Record<string, unknown>, schema.properties[key])
  else if (Array.isArray(inner) && inner.length > 0 && random.chance(0.5))
    inner[random.below(inner.length)] = hostileValue(random)
  else body[key] = hostileValue(random)
}

function hostileText(random: Random, valid: string): Buffer | undefined {
  const at = random.below(valid.length)
  switch (random.below(14)) {
    case 0:
      return undefined
    case 1:
      return Buffer.alloc(0)
    case 2:
      return Buffer.from(valid.slice(0, at))
    case 3:
      return Buffer.from(valid + valid)
    case 4:
      return Buffer.concat([
        Buffer.from(valid.slice(0, at)),
        Buffer.from([0xff, 0xc0, 0x80]),
        Buffer.from(valid.slice(at)),
      ])
    case 5:
      return Buffer.from(`\ufeff${valid}`)
    case 6:
      return Buffer.from(nested(50_000, '[', ']'))
    case 7:
      return Buffer.from(`{"name":${nested(20_000, '{"a":', '}').replace('}', '1}')}}`)
    case 8:
      return Buffer.from(`{"name":"alpha","name":"beta","limit":1,"limit":"x",${valid.slice(1)}`)
    case 9:
      return Buffer.from(`{"limit":1e999,"name":-1e999,"since":123456789012345678901234567890}`)
    case 10:
      return Buffer.from(`{"name":"\\ud800\\udc00\\ud800","tag":"\\u0000","cursor":"\\udfff"}`)
    case 11:
      return Buffer.from(
        random.pick(['NaN', 'undefined', "{'a':1}", '{a:1}', '[1,]', '//', '{"a":tru', '\0\0\0', '"']),
      )
    case 12:
      return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)))
    default:
      // Over the limit of this server.
      return Buffer.from(JSON.stringify({ name: 'x'.repeat(250_000) }))
  }
}

export function hostileHeaders(random: Random, caller: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...caller }
  if (random.chance(0.03))
    headers['content-type'] = random.pick(['text/plain', 'application/json; charset=latin1', ';'])
  if (random.chance(0.03))
    headers['trellis-org'] = random.pick(['', 'ÿ', '../x', 'a'.repeat(2000), "'", '__proto__'])
  if (random.chance(0.03))
    headers.authorization = random.pick(['', 'Bearer', 'Bearer %zz', 'Bearer ÿ', 'Basic x', 'x y z'])
  if (random.chance(0.03))
    headers.cookie = random.pick(['trellis.session_token=%zz', 'trellis.session_token=a.b', '=;='])
  return headers
}

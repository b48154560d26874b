import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createSqlite, useApp } from '../../testing/index.ts'
import type { Json } from '../../testing/json.ts'

describe('samples', () => {
  const app = useApp(createSqlite)
  let document: Json
  let ajv: Ajv2020
  let reference: string

  before(async () => {
    document = await (await fetch(`${app.url}/openapi.json`)).json()
    reference = await (await fetch(`${app.url}/reference`)).text()
    // Formats are held against the contract elsewhere.
    ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    ajv.addSchema({ $id: 'document', components: document.components })
  })

  /** The schema, with what it refers to in its place. */
  const inDocument = (schema: Json): Json =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))

  function assertTaken(schema: Json, value: unknown, what: string): void {
    const validate = ajv.compile(inDocument(schema))
    assert.ok(validate(value), `${what}: ${JSON.stringify(value)} ${ajv.errorsText(validate.errors)}`)
  }

  /** What was sent, as values: a whole body, as JSON or as it is, or of each line or event. */
  function valuesIn(media: string, example: Json): unknown[] {
    if (['application/json', 'application/zip', 'text/plain'].includes(media)) return [example]
    const lines = String(example).split('\n').filter(Boolean)
    const data = media === 'text/event-stream' ? lines.filter((line) => line.startsWith('data: ')) : lines
    assert.ok(data.length > 0, media)
    return data.map((line) => JSON.parse(line.replace(/^data: /, '')))
  }

  const operations = () =>
    Object.entries<Json>(document.paths).flatMap(([path, { get, post }]) => ({ path, ...(get ?? post) }))

  it('of every request and every stream are taken by the schema they stand beside', () => {
    for (const { path, requestBody, responses } of operations())
      for (const [of, content] of [
        ['request', requestBody?.content],
        ['answer', responses['200'].content],
      ])
        for (const [media, { schema, example }] of Object.entries<Json>(content ?? {})) {
          if (of === 'answer' && example === undefined) continue
          for (const value of valuesIn(media, example)) assertTaken(schema, value, `${path} ${of}`)
        }
  })

  it('of fields are taken by the schema of the field', () => {
    const check = (at: string, schema: Json): void => {
      if (schema === null || typeof schema !== 'object') return
      if (Array.isArray(schema.examples))
        for (const example of schema.examples) assertTaken(schema, example, at)
      for (const [key, value] of Object.entries(schema))
        if (key !== 'examples' && key !== 'example') check(`${at}/${key}`, value)
    }
    check('#', { paths: document.paths, components: document.components })
  })

  it('for a shell send what the operation takes', async () => {
    const unescaped = (text: string) => text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    const samples = new Map(
      [...reference.matchAll(/<section id="([^"]+)">.*?<pre class="curl">(.*?)<\/pre>/gs)].map(
        ([, id = '', text = '']) => [`/${id}`, unescaped(text)],
      ),
    )
    assert.deepEqual(
      [...samples.keys()].toSorted(),
      operations()
        .map(({ path }) => path)
        .toSorted(),
    )
    // One shell for all, in which curl tells what it was given.
    const script = [
      `curl() { printf '%s\\0' "$@"; printf '\\1'; }`,
      'TRELLIS_KEY=trk_x',
      ...samples.values(),
    ].join('\n')
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { maxBuffer: 1 << 24 })
    const called = stdout.split('\x01').map((call) => call.split('\0').slice(0, -1))
    const calls = new Map([...samples.keys()].map((path, i) => [path, called[i] ?? []]))
    for (const { path, requestBody, parameters = [] } of operations()) {
      const given = calls.get(path) ?? []
      const url = new URL(given.find((each) => each.startsWith('http')) ?? '')
      const pattern = new RegExp(`^/api/v1${path.replaceAll(/\{\w+\}/g, '[^/{}]+')}$`)
      assert.match(url.pathname, pattern)
      assert.ok(given.includes('authorization: Bearer trk_x'), path)
      for (const { name, in: where, required, schema } of parameters)
        if (where === 'query' && required) assertTaken(schema, url.searchParams.get(name), `${path} ${name}`)
      const body = given[given.indexOf('-d') + 1]
      const json = requestBody?.content['application/json']
      if (json) assertTaken(json.schema, JSON.parse(body ?? ''), path)
    }
  })
})

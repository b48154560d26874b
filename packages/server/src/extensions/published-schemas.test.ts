import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import { createSqlite, useApp } from '../testing/index.ts'
import { DESCRIPTORS_PAGE, descriptorsPage, type JsonSchema } from './descriptor-docs.ts'
import { publishedSchemas } from './published-schemas.ts'
import { schemaFiles } from './schema-files.ts'

describe('the schemas of descriptors', () => {
  const app = useApp(createSqlite)

  it('are in the package for authors as they are served', async () => {
    for (const [file, text] of Object.entries(schemaFiles))
      assert.equal(await readFile(file, 'utf8'), text, 'run npm run docs')
    for (const name of ['extension', 'webhook']) {
      const response = await fetch(`${app.url}/schemas/${name}.json`)
      assert.equal(response.status, 200)
      const served = await response.json()
      const packed = Object.entries(schemaFiles).find(([file]) => file.endsWith(`/${name}.schema.json`))
      assert.deepEqual(served, JSON.parse(packed?.[1] ?? ''))
    }
  })

  it('say of every key what it means, and the reference is made of that', async () => {
    assert.equal(await readFile(DESCRIPTORS_PAGE, 'utf8'), descriptorsPage(), 'run npm run docs')
    const silent = Object.values(publishedSchemas).flatMap((schema) => keysWithoutWords(schema as JsonSchema))
    assert.deepEqual(silent, [])
  })

  const isGoodBy = async (name: string) => {
    const schema = await (await fetch(`${app.url}/schemas/${name}.json`)).json()
    return new Ajv({ strict: false, formats: { uri: URL.canParse } }).compile(schema as object)
  }

  it('take what is right, and tell typos', async () => {
    const isGood = await isGoodBy('extension')
    assert.ok(isGood({ version: 1, name: 'triage', on: { push: {} } }))
    assert.ok(!isGood({ version: 1, name: 'triage', capabilites: [] }))
    assert.ok(!isGood({ name: 'triage' }))
    const record = { name: 'task', fields: { extra: { type: 'json' } } }
    assert.ok(isGood({ version: 1, name: 'triage', record }))
  })

  it('do the same for webhooks', async () => {
    const isGood = await isGoodBy('webhook')
    const url = 'https://example.com/'
    assert.ok(
      isGood({ url, on: { event: { types: ['git.*'] } }, contentType: 'text/plain', payload: 'p.ts' }),
    )
    assert.ok(!isGood({ url, events: [] }))
    assert.ok(!isGood({ url: 'nowhere' }))
    assert.ok(!isGood({ on: {} }))
  })
})

function keysWithoutWords(schema: JsonSchema, path = ''): string[] {
  const { properties = {}, oneOf = [], additionalProperties: more } = schema
  return [
    ...Object.entries(properties).flatMap(([key, value]) => [
      ...(value.description ? [] : [`${path}/${key}`]),
      ...keysWithoutWords(value, `${path}/${key}`),
    ]),
    ...(typeof more === 'object' ? keysWithoutWords(more, `${path}/*`) : []),
    ...oneOf.flatMap((kind) => keysWithoutWords(kind, path)),
  ]
}

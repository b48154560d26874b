import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import { createSqlite, useApp } from '../testing/index.ts'
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

  it('take what is right, and tell typos', async () => {
    const schema = await (await fetch(`${app.url}/schemas/extension.json`)).json()
    const isGood = new Ajv({ strict: false }).compile(schema as object)
    assert.ok(isGood({ version: 1, name: 'triage', on: { push: {} } }))
    assert.ok(!isGood({ version: 1, name: 'triage', capabilites: [] }))
    assert.ok(!isGood({ name: 'triage' }))
  })
})

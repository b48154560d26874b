import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { CONFIGURATION_PAGE, configurationPage } from './config-docs.ts'

it('has a page on configuration that says what the code does', async () => {
  assert.equal(await readFile(CONFIGURATION_PAGE, 'utf8'), configurationPage(), 'run npm run docs')
})

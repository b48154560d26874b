import assert from 'node:assert/strict'
import { it } from 'node:test'
import { slug } from './slug.js'

it('has lowercase letters, digits and hyphens', () => {
  assert.equal(slug('Crème brûlée: 2 ways!'), 'creme-brulee-2-ways')
})

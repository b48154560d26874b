import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeUtf8 } from './utf8.ts'

const SLICE = 256 * 1024

test('gives what Node gives in one go, wherever a slice ends', async () => {
  const texts = [
    '',
    'ü',
    'a'.repeat(SLICE),
    `${'a'.repeat(SLICE - 1)}🌱${'b'.repeat(SLICE)}`,
    `${'a'.repeat(SLICE - 2)}🌱${'b'.repeat(SLICE)}`,
    '🌱'.repeat(SLICE),
    // Halves that nothing belongs to.
    `${'a'.repeat(SLICE - 1)}\ud83c`,
    `${'a'.repeat(SLICE - 1)}\ud83cb`,
    '\ud83c'.repeat(2 * SLICE),
    `${'a'.repeat(SLICE)}\udf31b`,
  ]
  for (const text of texts) assert.ok((await encodeUtf8(text)).equals(Buffer.from(text)), String(text.length))
})

import assert from 'node:assert/strict'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { it } from 'node:test'
import { watchRoom } from './room.ts'

it('counts what is to come against what is left', async () => {
  const room = watchRoom(tmpdir())
  const { blocks, bsize } = await statfs(tmpdir())
  assert.equal(await room.isShort(), false)
  assert.equal(await room.isShort(1), false)
  assert.equal(await room.isShort(blocks * bsize), true)
})

it('leaves it to a disk that cannot be asked to say so', async () => {
  assert.equal(await watchRoom('/nonexistent').isShort(1), false)
})

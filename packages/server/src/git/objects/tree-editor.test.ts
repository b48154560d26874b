import assert from 'node:assert/strict'
import test from 'node:test'
import { oid } from '../../testing/git-repo.ts'
import { countTurns } from '../../testing/turns.ts'
import { EMPTY_TREE_OID, type TreePath } from '../names.ts'
import { createObjectSet } from './pack-writer.ts'
import { editTree } from './tree-editor.ts'

test('writes very many folders in several turns of the event loop', async () => {
  const editor = await editTree(EMPTY_TREE_OID, async () => undefined)
  for (let i = 0; i < 5_000; i++)
    await editor.put(`folder-${i}/file` as TreePath, undefined, oid('1'.repeat(40)))
  const objects = createObjectSet()
  using turns = countTurns()
  await editor.write(objects)
  assert.ok(turns.count >= 3, `${turns.count} turns`)
  assert.equal([...objects].length, 2, 'a folder that is the same everywhere, and the root')
})

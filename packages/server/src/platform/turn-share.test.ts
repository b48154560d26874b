import assert from 'node:assert/strict'
import { it } from 'node:test'
import { countTurns } from '../testing/turns.ts'
import { TurnShare } from './turn-share.ts'

/** In which turn of the event loop each of them is let in, in that order. */
async function turnsOf(share: TurnShare, count: number, work = () => {}): Promise<number[]> {
  using turns = countTurns()
  const seen: { at: number; turn: number }[] = []
  await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      await share.take()
      // What it does goes on over several promises.
      await Promise.resolve()
      work()
      seen.push({ at, turn: turns.count })
    }),
  )
  assert.deepEqual(
    seen.map(({ at }) => at),
    seen.map((_, at) => at),
  )
  return seen.map(({ turn }) => turn)
}

it('work beyond its share of a turn waits for the next turns, in order', async () => {
  const turns = await turnsOf(new TurnShare(0), 6)
  assert.equal(new Set(turns).size, 6)
})

it('goes on in the same turn while its share lasts', async () => {
  assert.equal(new Set(await turnsOf(new TurnShare(60_000), 20)).size, 1)
})

const blockFor = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
}

it('lets in no more of those who wait than its share is good for', async () => {
  const share = new TurnShare(10)
  await share.take()
  blockFor(10)
  const turns = await turnsOf(share, 9, () => blockFor(4))
  // The third begins after eight milliseconds.
  for (const turn of turns) assert.ok(turns.filter((other) => other === turn).length <= 3)
})

it('lets in all who wait where its share is good for them', async () => {
  const share = new TurnShare(200)
  await share.take()
  blockFor(200)
  assert.equal(new Set(await turnsOf(share, 9)).size, 1)
})

it('lets in a part of very many, however short its share is', async () => {
  const share = new TurnShare(0)
  const turns = await turnsOf(share, 81)
  // One at once, and of the others an eighth of those who are left each time.
  assert.equal(turns.filter((turn) => turn === turns[1]).length, 10)
  assert.ok(new Set(turns).size < 40)
})

it('lets in no more of very many than a turn may take', async () => {
  const share = new TurnShare(0)
  await share.take()
  const turns = await turnsOf(share, 160, () => blockFor(1))
  // An eighth would be twenty.
  for (const turn of turns) assert.ok(turns.filter((other) => other === turn).length <= 9)
})

it('lets in one owner after the other, however many of one wait', async () => {
  const share = new TurnShare(0)
  await share.take()
  const order: string[] = []
  const wait = async (owner: string) => {
    await share.take(owner)
    order.push(owner)
  }
  await Promise.all([...Array(20).fill('many'), 'few', 'few', 'one'].map(wait))
  assert.deepEqual(order.slice(0, 6), ['many', 'few', 'one', 'many', 'few', 'many'])
  assert.equal(order.length, 23)
})

it('has its whole share again when it has rested', async () => {
  const share = new TurnShare(0)
  assert.equal(share.take(), undefined)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(share.take(), undefined)
})

it('lets in no more than its share is good for while turns are kept short', async () => {
  const share = new TurnShare(0)
  await share.take()
  const turns = turnsOf(share, 81, () => share.keepShort())
  assert.equal(new Set(await turns).size, 81)
})

import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { onEachDatabase, type Person, promoteRecords, useApp } from '../testing/index.ts'

const ROWS = 9
const TEXT = 'ab'.repeat(60_000)

onEachDatabase('many searches through long texts', (create) => {
  const app = useApp(create)
  let ada: Person
  const [name, record] = ['library', 'book']

  before(async () => {
    ada = await app.signUp('ada')
    await app.client(ada.token).repos.create({ name })
    await promoteRecords(app, name, { name: record, fields: { text: { type: 'text' } } })
    for (let i = 0; i < ROWS; i++)
      await app.client(ada.token).records.create({ name, record, data: { text: `${TEXT} ${i}.` } })
  })

  /** None but the last is found, after a look at all of the text. */
  const conditions = (last: string) => [
    ...Array.from({ length: 90 }, (_, i) => ({ text: { contains: `${'ba'.repeat(500)}${i}` } })),
    { text: { contains: last } },
  ]

  async function ask(where: object): Promise<{ found: number; pages: number }> {
    let [cursor, found, pages] = [null as string | null, 0, 0]
    do {
      const page = await app
        .client(ada.token)
        .records.list({ name, record, where: { ...where }, ...(cursor && { cursor }) })
      found += page.rows.length
      cursor = page.cursor
      pages++
    } while (cursor)
    return { found, pages }
  }

  it('are made a few rows at a time, and find what there is', async () => {
    const { found, pages } = await ask({ or: conditions(` ${ROWS - 1}.`) })
    assert.equal(found, 1)
    assert.ok(pages > 1, `${pages} pages`)
  })

  it('mean what they mean one by one', async () => {
    const some = conditions(' 2.').slice(-6)
    for (const [where, count] of [
      [{ and: [{ text: { contains: 'b ' } }, { not: { text: { contains: ' 1.' } } }] }, ROWS - 1],
      [{ or: some }, 1],
      [{ and: some }, 0],
      [{ not: { or: some } }, ROWS - 1],
      [{ and: some.map((condition) => ({ not: condition })) }, ROWS - 1],
    ] as const)
      assert.equal((await ask(where)).found, count)
  })
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { verifyPassword } from 'better-auth/crypto'
import { cheapPasswords, onEachDatabase, startTestApp } from '../testing/index.ts'
import { scryptPasswords } from './passwords.ts'

const password = 'correct horse battery'

/** Made by better-auth before there was a choice. */
const keptBefore =
  '0ed5435533e5d8a02f0ad9f9b8270974:bb9b6919966114cb2afa3d03af86d89f267f973259ff9c0e83ede6951274b15e' +
  '3ec707aacd0d8777c63ee84c17708bbd4444a2b4dd453c26f2364e2b48690bf2'

it('passwords that were kept earlier still open, and what tests keep opens nothing', async () => {
  assert.equal(await scryptPasswords.verify({ hash: keptBefore, password }), true)
  assert.equal(await scryptPasswords.verify({ hash: keptBefore, password: 'wrong password' }), false)
  const cheap = await cheapPasswords.hash(password)
  assert.equal(await scryptPasswords.verify({ hash: cheap, password }).catch(() => false), false)
})

onEachDatabase('passwords as a server keeps them', (create) => {
  it('are hashed with scrypt, for those who sign up and for the first owner', async () => {
    await using database = await create()
    const env = { TRELLIS_OWNER_EMAIL: 'owner@example.com', TRELLIS_OWNER_PASSWORD: password }
    await using app = await startTestApp(database, env, scryptPasswords)
    await app.signUp('ana')

    const kept = await app.database.db.selectFrom('accounts').select('password').execute()
    assert.equal(kept.length, 2)
    for (const { password: hash } of kept) {
      assert.match(hash ?? '', /^[0-9a-f]{32}:[0-9a-f]{128}$/)
      assert.equal(await verifyPassword({ hash: hash ?? '', password }), true)
    }

    const signIn = async (email: string, given: string) => {
      const { status } = await fetch(`${app.url}/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: given }),
      })
      return status
    }
    for (const email of ['ana@example.com', 'owner@example.com']) {
      assert.equal(await signIn(email, password), 200)
      assert.equal(await signIn(email, 'wrong password'), 401)
    }
  })
})

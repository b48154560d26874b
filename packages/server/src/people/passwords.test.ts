import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyPassword } from 'better-auth/crypto'
import { Fault } from '../platform/fault.ts'
import { cheapPasswords, onEachDatabase, startTestApp, type TestApp } from '../testing/index.ts'
import { createScryptPasswords, type Passwords } from './passwords.ts'

const password = 'correct horse battery'

/** Made by better-auth before there was a choice. */
const keptBefore =
  '0ed5435533e5d8a02f0ad9f9b8270974:bb9b6919966114cb2afa3d03af86d89f267f973259ff9c0e83ede6951274b15e' +
  '3ec707aacd0d8777c63ee84c17708bbd4444a2b4dd453c26f2364e2b48690bf2'

describe('hashing passwords', () => {
  const passwords = createScryptPasswords({ threads: 1, maxWaiting: 8 })
  after(() => passwords.close())

  it('opens what was kept earlier, and nothing that tests keep', async () => {
    assert.equal(await passwords.verify({ hash: keptBefore, password }), true)
    assert.equal(await passwords.verify({ hash: keptBefore, password: 'wrong password' }), false)
    const cheap = await cheapPasswords.hash(password)
    assert.equal(await passwords.verify({ hash: cheap, password }).catch(() => false), false)
    for (const hash of ['', 'nothing', ':'])
      await assert.rejects(passwords.verify({ hash, password }), /not a password/)
  })

  it('makes what better-auth opens, whatever is in the password', async () => {
    for (const given of [password, 'Ⅷ ﬁ é é 🔑'])
      assert.equal(await verifyPassword({ hash: await passwords.hash(given), password: given }), true)
  })

  it('leaves the threads alone that read files', async () => {
    let hashed = 0
    const hashing = Promise.all(
      Array.from({ length: 8 }, async () => {
        await passwords.hash(password)
        hashed += 1
      }),
    )
    // Behind hashes on the same threads, in whose line it would stand, it came after most of them.
    await readFile(import.meta.filename)
    assert.ok(hashed < 4, `${hashed} hashes came first`)
    await hashing
  })

  it('refuses those who come when many wait, and serves the rest', async () => {
    const tries = await Promise.allSettled(Array.from({ length: 14 }, () => passwords.hash(password)))
    const refused = tries.filter((tried) => tried.status === 'rejected')
    assert.equal(refused.length, 5)
    for (const { reason } of refused)
      assert.ok(reason instanceof Fault && reason.code === 'TOO_MANY_REQUESTS', String(reason))
    assert.equal(await passwords.verify({ hash: keptBefore, password }), true)
  })
})

onEachDatabase('passwords as a server keeps them', (create) => {
  it('are hashed with scrypt, for those who sign up and for the first owner', async () => {
    await using database = await create()
    const env = { TRELLIS_OWNER_EMAIL: 'owner@example.com', TRELLIS_OWNER_PASSWORD: password }
    const scrypt = createScryptPasswords()
    await using app = await startTestApp(database, env, { passwords: scrypt })
    await app.signUp('ana')

    const kept = await app.database.db.selectFrom('accounts').select('password').execute()
    assert.equal(kept.length, 2)
    for (const { password: hash } of kept) {
      assert.match(hash ?? '', /^[0-9a-f]{32}:[0-9a-f]{128}$/)
      assert.equal(await verifyPassword({ hash: hash ?? '', password }), true)
    }

    for (const email of ['ana@example.com', 'owner@example.com']) {
      assert.equal(await signIn(app, email, password), 200)
      assert.equal(await signIn(app, email, 'wrong password'), 401)
    }
    await scrypt.close()
  })

  it('keep nobody waiting who writes while they are hashed', async () => {
    await using database = await create()
    let app: TestApp | undefined
    let tries = 0
    let made = 0
    const beside: Passwords = {
      ...cheapPasswords,
      // As long as this takes, a sign-up is under way. In a transaction it would wait for itself.
      async hash(given) {
        if (app) {
          const name = `beside-${++tries}`
          const creating = app.call('repos/create', { name }, { token: app.ownerKey })
          const answer = await Promise.race([creating, sleep(10_000)])
          if (answer?.status === 200) made += 1
        }
        return cheapPasswords.hash(given)
      },
    }
    await using started = await startTestApp(database, {}, { passwords: beside })
    app = started
    await Promise.all(['ana', 'bob', 'cleo', 'dan'].map((name) => started.signUp(name)))
    assert.equal(await signIn(started, 'nobody@example.com', password), 401)
    assert.deepEqual([tries, made], [5, 5])
  })

  it('are kept with an account or not at all', async () => {
    await using database = await create()
    await using app = await startTestApp(database)
    const signUps = await Promise.all(Array.from({ length: 6 }, () => signUp(app, 'same@example.com')))
    assert.deepEqual(signUps.toSorted(), [200, 422, 422, 422, 422, 422])
    const { db } = app.database
    const users = await db.selectFrom('users').select('id').where('email', '=', 'same@example.com').execute()
    const accounts = await db.selectFrom('accounts').select('user_id').execute()
    assert.deepEqual(
      accounts.map(({ user_id }) => user_id),
      users.map(({ id }) => id),
    )
    assert.equal(await signIn(app, 'same@example.com', password), 200)
  })
})

async function ask(app: TestApp, route: string, body: object): Promise<number> {
  const response = await fetch(`${app.url}/api/auth/${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  return response.status
}

const signIn = (app: TestApp, email: string, password: string) =>
  ask(app, 'sign-in/email', { email, password })
const signUp = (app: TestApp, email: string) =>
  ask(app, 'sign-up/email', { email, name: 'Somebody', password })

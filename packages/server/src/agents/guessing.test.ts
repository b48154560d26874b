import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import {
  assertFault,
  onEachDatabase,
  type Person,
  registerAgent,
  startClaim,
  startTestApp,
  type TestApp,
  useInSuite,
  wrongCode,
} from '../testing/index.ts'

const HOUR = 60 * 60_000

onEachDatabase('claiming an agent', (create) => {
  const processes = useInSuite(async (made) => {
    const data = made.use(await mkdtempDisposable(join(tmpdir(), 'trellis-claiming-')))
    const database = made.use(await create())
    const env = { TRELLIS_DATA: data.path, TRELLIS_TRUSTED_PROXIES: '127.0.0.1' }
    return { start: async () => made.use(await startTestApp(database, env)) }
  })
  let app: TestApp

  before(async () => {
    app = await processes.start()
  })

  const complete = (
    claimAttemptToken: string,
    userCode: string,
    { token }: { token: string },
    address?: string,
  ) =>
    app.call(
      'agents/claimComplete',
      { claimAttemptToken, userCode },
      { token, ...(address && { headers: { 'x-forwarded-for': address } }) },
    )

  /** Somebody who has not tried any code yet. */
  let made = 0
  const newPerson = () => app.signUp(`person-${++made}`)

  describe('guessing', () => {
    it('ends after twenty tries at one agent, whatever new codes it makes, also after a restart', async () => {
      const person = await newPerson()
      const agent = await registerAgent(app)
      const wrongFiveTimes = async () => {
        const { ceremony, attemptToken } = await startClaim(app, agent.claimToken, person.email)
        for (let i = 0; i < 5; i++)
          assertFault(
            await complete(attemptToken, wrongCode(ceremony.user_code), person),
            'AGENT_CLAIM_CODE_INVALID',
            {},
          )
      }
      for (let round = 0; round < 2; round++) await wrongFiveTimes()
      await app.stop()
      app = await processes.start()
      for (let round = 0; round < 2; round++) await wrongFiveTimes()
      const { ceremony, attemptToken } = await startClaim(app, agent.claimToken, person.email)
      const refused = await complete(attemptToken, ceremony.user_code, person)
      assert.equal(refused.body.code, 'TOO_MANY_REQUESTS')
      assert.ok(refused.body.data.retryAfterMs > 20 * HOUR)
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
    })

    it('ends after thirty tries of one person in an hour, over all agents and processes', async () => {
      const person = await newPerson()
      const other = await processes.start()
      const input = { claimAttemptToken: 'cvt_none', userCode: '000000' }
      for (let i = 0; i < 15; i++)
        for (const process of [app, other])
          assertFault(
            await process.call('agents/claimComplete', input, { token: person.token }),
            'AGENT_CLAIM_NOT_FOUND',
            {},
          )
      for (const process of [app, other]) {
        const { body } = await process.call('agents/claimComplete', input, { token: person.token })
        assert.equal(body.code, 'TOO_MANY_REQUESTS')
        assert.ok(body.data.retryAfterMs > 0 && body.data.retryAfterMs <= HOUR)
      }
      await other.stop()
      // Others are not held back by it, and after an hour neither is the person.
      assertFault(await complete('cvt_none', '000000', await newPerson()), 'AGENT_CLAIM_NOT_FOUND', {})
      app.pass(HOUR)
      assertFault(await complete('cvt_none', '000000', person), 'AGENT_CLAIM_NOT_FOUND', {})
    })

    it('ends after sixty tries from one network in an hour, whoever signs in there', async () => {
      const [third, ...people] = [await newPerson(), await newPerson(), await newPerson()]
      let tried = 0
      const guess = (person: Person, address: string) => complete('cvt_none', '000000', person, address)
      for (const person of people)
        for (let i = 0; i < 30; i++)
          assertFault(
            await guess(person, `2001:db8:5:6::${(++tried).toString(16)}`),
            'AGENT_CLAIM_NOT_FOUND',
            {},
          )
      assert.equal((await guess(third, '2001:db8:5:6:ffff::1')).body.code, 'TOO_MANY_REQUESTS')
      assertFault(await guess(third, '2001:db8:5:7::1'), 'AGENT_CLAIM_NOT_FOUND', {})
    })
  })
})

// What somebody else notices of an attack: the same things done before it and while it goes on, by the clock.

import { createClient, type Sandbox, type ServerProcess } from './harness.ts'

interface Times {
  get: number[]
  push: number[]
  clone: number[]
}

/** How many times longer things took during the attack, by their medians. */
export interface Slowdown {
  get: number
  push: number
  clone: number
  /** The longest repos/get against the longest turn of the attack: one that waits for all of it comes near 1. */
  longestGet: number
  turnMs: number
  /** How often each was done during the attack. */
  served: { get: number; push: number; clone: number }
}

const ROUNDS = 4
const GETS = 10
const TURNS = 3

/** Somebody in an organization of their own, with a repository. */
export async function createBystander(server: ServerProcess, sandbox: Sandbox) {
  const response = await fetch(`${server.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bob@example.com', name: 'bob', password: 'correct horse battery' }),
  })
  const { token } = (await response.json()) as { token: string }
  const call = async (path: string, input: object) => {
    const answer = await fetch(`${server.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { remote: string }
  }
  const { remote } = await call('repos/create', { name: 'bystander' })
  const client = createClient(sandbox.path('bystander'), { token })
  await client.run('init', '-q')

  const timed = async (into: number[], work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    into.push(performance.now() - began)
  }
  /** Some of everything, as long as it is wanted. */
  async function round(times: Times, isWanted: () => boolean): Promise<void> {
    for (let i = 0; i < GETS && isWanted(); i++)
      await timed(times.get, () => call('repos/get', { name: 'bystander' }))
    await client.commit({ file: `${performance.now()}\n` })
    if (isWanted()) await timed(times.push, () => client.run('push', '-q', remote, 'main'))
    const copy = createClient(sandbox.path('copy'), { token })
    if (isWanted()) await timed(times.clone, () => copy.run('clone', '-q', remote, '.'))
  }
  const noTimes = (): Times => ({ get: [], push: [], clone: [] })

  return {
    /** `attack` is done several times, one after the other, until there are times of so many rounds. */
    async during(attack: (turn: number) => Promise<unknown>, rounds = 0): Promise<Slowdown> {
      const before = noTimes()
      // The first is not like the others.
      await round(noTimes(), () => true)
      // Only whoever asks for times compares them.
      for (let i = 0; i < ROUNDS && rounds > 0; i++) await round(before, () => true)
      const meanwhile = noTimes()
      const turns: number[] = []
      let isGoingOn = true
      async function attackInTurns(): Promise<void> {
        for (let turn = 0; turn < TURNS || meanwhile.clone.length < rounds; turn++)
          await timed(turns, () => attack(turn))
      }
      const attacking = attackInTurns().finally(() => {
        isGoingOn = false
      })
      while (isGoingOn) await round(meanwhile, () => isGoingOn)
      await attacking
      const turnMs = Math.max(...turns)
      const ratio = (what: keyof Times) =>
        meanwhile[what].length === 0 ? 1 : median(meanwhile[what]) / median(before[what])
      return {
        get: ratio('get'),
        push: ratio('push'),
        clone: ratio('clone'),
        longestGet: Math.max(0, ...meanwhile.get) / turnMs,
        turnMs,
        served: {
          get: meanwhile.get.length,
          push: meanwhile.push.length,
          clone: meanwhile.clone.length,
        },
      }
    },
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

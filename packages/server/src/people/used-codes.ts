import { createHmac } from 'node:crypto'
import type { GenericEndpointContext } from 'better-auth'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import { symmetricDecrypt } from 'better-auth/crypto'

const ROUTE = '/two-factor/verify-totp'
/** The cookie of a sign-in that waits for its code. */
const WAITING_COOKIE = 'two_factor'

const PERIOD_MS = 30_000
/** Clocks of phones are a little off: better-auth takes the code before and the one after, too. */
const TOLERATED = [-1, 0, 1]

/** A number for each code that has signed somebody in: no code of then or before does again. */
export const lastStepField = {
  type: 'number',
  required: false,
  input: false,
  returned: false,
  fieldName: 'last_step',
} as const

interface AppRow {
  secret: string
  lastStep: number
}

/** Which period a code is for; undefined when it is not one of those that are taken now. */
function stepOf(code: string, secret: string): number | undefined {
  const now = Math.floor(Date.now() / PERIOD_MS)
  return TOLERATED.map((offset) => now + offset).findLast((step) => codeAt(secret, step) === code)
}

function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

/** The app of a person, and for which period the code is that came with the request. */
async function find({ body, context }: GenericEndpointContext, userId: string) {
  const app = await context.adapter.findOne<AppRow>({
    model: 'twoFactor',
    where: [{ field: 'userId', value: userId }],
  })
  if (!app) return undefined
  const secret = await symmetricDecrypt({ key: context.secretConfig, data: app.secret })
  const step = stepOf(String(body?.code ?? ''), secret)
  return step === undefined ? undefined : { step, lastStep: app.lastStep }
}

const refusal = () =>
  new APIError('UNAUTHORIZED', {
    code: 'INVALID_CODE',
    message: 'This code was used already: wait for the next one',
  })

/** Refuses a code that has signed somebody in, before it costs them the sign-in that they have begun. */
export const refuseUsedCodes = {
  matcher: ({ path }: { path?: string }) => path === ROUTE,
  handler: createAuthMiddleware(async (input) => {
    const { context } = input
    const { name } = context.createAuthCookie(WAITING_COOKIE)
    const waiting = await input.getSignedCookie(name, context.secret)
    const signIn = waiting && (await context.internalAdapter.findVerificationValue(waiting))
    if (!signIn) return
    const found = await find(input, signIn.value)
    if (found && found.step <= found.lastStep) throw refusal()
  }),
}

/** Before a session is made: takes note of the code that it is made for. Of two at once with the same code one is refused. */
export async function spendCode(input: GenericEndpointContext, userId: string): Promise<void> {
  // Who sets the app up has a session, and shows only that they have it.
  if (input.path !== ROUTE || input.context.session) return
  const found = await find(input, userId)
  if (!found) return
  const spent = await input.context.adapter.incrementOne({
    model: 'twoFactor',
    where: [
      { field: 'userId', value: userId },
      { field: 'lastStep', operator: 'lt', value: found.step },
    ],
    increment: {},
    set: { lastStep: found.step },
  })
  if (!spent) throw refusal()
}

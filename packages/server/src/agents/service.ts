import type { AgentRegistrationView, ClaimedAgent } from '@trellis/contract'
import type { Caller } from '../access/caller.ts'
import { by, type EventsService } from '../events/service.ts'
import { orgScope } from '../events/types.ts'
import type { OrgsService } from '../orgs/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { Clock } from '../platform/clock.ts'
import { pageFrom, textCursor } from '../platform/cursors.ts'
import { Fault } from '../platform/fault.ts'
import type { Throttle, Throttles } from '../platform/throttles.ts'
import type { ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { hashSecret } from '../secrets/minting.ts'
import type { CodeHasher } from './codes.ts'
import { IDLE_MS, isCodeLive, sameAddress, statusOf } from './registration-state.ts'
import type { Retiring } from './retiring.ts'
import * as store from './store.ts'

interface AgentsDeps {
  database: Database
  events: EventsService
  orgs: OrgsService
  repos: ReposService
  people: PeopleService
  codes: CodeHasher
  throttles: Throttles
  clock: Clock
  retiring: Retiring
}

const HOUR_MS = 60 * 60 * 1000

/** Codes tried, right or wrong; each holds by itself, so that no change of the others gets around it. */
const perRegistration: Throttle = { count: 20, windowMs: 24 * HOUR_MS }
const perPerson: Throttle = { count: 30, windowMs: HOUR_MS }
const perAddress: Throttle = { count: 60, windowMs: HOUR_MS }

export type AgentsService = ReturnType<typeof createAgentsService>

/** How a person takes an agent on, and lets it go. */
export function createAgentsService(deps: AgentsDeps) {
  const { database, events, orgs, repos, people, codes, throttles, clock, retiring } = deps

  async function open(claimAttemptToken: string) {
    const attempt = await store.findAttempt(database.db, hashSecret(claimAttemptToken))
    const registration = attempt && (await store.findRegistration(database.db, attempt.registration_id))
    if (!registration) throw new Fault('AGENT_CLAIM_NOT_FOUND', {})
    return { attempt, registration, status: statusOf(registration, attempt, clock()) }
  }

  async function requireSameAccount(caller: Caller, { claim_email }: store.AttemptRow): Promise<void> {
    const { email } = await people.get(caller.actor.id)
    if (!sameAddress(email, claim_email))
      throw new Fault('AGENT_CLAIM_WRONG_ACCOUNT', { claimEmail: claim_email })
  }

  const unavailable = (reason: 'previously_claimed' | 'claim_expired' | 'user_code_expired') =>
    new Fault('AGENT_CLAIM_UNAVAILABLE', { reason })

  /** Counts the try, then compares: no number of tries at once gets more than its share. */
  async function requireCode(attempt: store.AttemptRow, code: string): Promise<void> {
    const tried = await database.transact((tx) => store.countTry(tx, attempt.id))
    if (!tried || !isCodeLive({ ...tried, wrong_tries: tried.wrong_tries - 1 }, clock()))
      throw unavailable('user_code_expired')
    if (!codes.matches(attempt.id, code, attempt.code_hmac)) throw new Fault('AGENT_CLAIM_CODE_INVALID', {})
  }

  return {
    /** What the page shows before a person decides. Changes nothing. */
    async claimView(
      caller: Caller,
      claimAttemptToken: string,
    ): Promise<AgentRegistrationView & { createdAt: number; address: string; agentName: string | null }> {
      const { attempt, registration, status } = await open(claimAttemptToken)
      if (status === 'expired') throw unavailable('claim_expired')
      const isTheirs = registration.claimed_by === caller.actor.id
      if (status === 'claimed' && !isTheirs) throw unavailable('previously_claimed')
      if (!isTheirs) await requireSameAccount(caller, attempt)
      const codeIsLive = status === 'pending_claim' && isCodeLive(attempt, clock())
      return {
        registrationId: registration.id,
        kind: registration.kind,
        status,
        claimEmail: attempt.claim_email,
        userCodeExpiresAt: codeIsLive ? attempt.expires_at : null,
        createdAt: registration.created_at,
        address: registration.address,
        agentName: registration.agent_name,
      }
    },

    async claimComplete(
      caller: Caller,
      { claimAttemptToken, userCode }: { claimAttemptToken: string; userCode: string },
      address: string | undefined,
    ): Promise<{ claimed: boolean }> {
      await throttles.take(`claim person ${caller.actor.id}`, perPerson)
      if (address) await throttles.take(`claim address ${address}`, perAddress)
      const { attempt, registration, status } = await open(claimAttemptToken)
      if (status === 'claimed') throw unavailable('previously_claimed')
      if (status === 'expired') throw unavailable('claim_expired')
      await requireSameAccount(caller, attempt)
      if (!isCodeLive(attempt, clock())) throw unavailable('user_code_expired')
      await throttles.take(`claim registration ${registration.id}`, perRegistration)
      await requireCode(attempt, userCode)

      await database.transact(async (tx) => {
        const now = clock()
        const claimer = { userId: caller.actor.id, now, endsAt: now + IDLE_MS }
        const claimed = await store.claim(tx, registration.id, claimer)
        if (!claimed) throw unavailable('previously_claimed')
        await orgs.takeOverIn(tx, claimed.org_id, {
          ...by(caller),
          userId: caller.actor.id,
          registrationId: claimed.id,
        })
        await repos.liftExpiryIn(tx, claimed.org_id)
        await events.append(tx, {
          ...by(caller),
          scope: orgScope(claimed.org_id),
          type: 'agent.claimed',
          subject: claimed.id,
          payload: { kind: claimed.kind, ...nameOf(claimed) },
        })
      })
      return { claimed: true }
    },

    /** Those the caller has claimed, or all of an organization for who looks after it. */
    async list(
      caller: Caller,
      {
        orgSlug,
        cursor,
        limit,
      }: { orgSlug?: string | undefined; cursor?: string | undefined; limit: number },
    ) {
      const page = { after: textCursor.decode(cursor) ?? '', limit: limit + 1 }
      const of = orgSlug === undefined ? undefined : await orgs.open(caller, orgSlug, 'org:admin')
      const rows = of
        ? await store.listClaimedIn(database.db, of.org.id, page)
        : await store.listClaimedBy(database.db, caller.actor.id, page)
      const { items, nextCursor } = pageFrom(rows, limit, (row) => textCursor.encode(row.id))
      return { items: items.map((row) => present(row, clock())), nextCursor }
    },

    /** Ends every credential of the agent at once. Whoever claimed it may, and the owners of where it works. */
    async revoke(caller: Caller, registrationId: string): Promise<{ revoked: boolean }> {
      const registration = await store.findRegistration(database.db, registrationId)
      const isTheirs =
        registration?.claimed_by === caller.actor.id ||
        (registration?.claimed_at && (await orgs.isOwner(registration.org_id, caller.actor.id)))
      if (!isTheirs) throw new Fault('AGENT_NOT_FOUND', { registrationId })
      await database.transact((tx) => retiring.endIn(tx, by(caller), registrationId))
      return { revoked: true }
    },
  }
}

/** What it calls itself, where it has said. */
const nameOf = ({ agent_name }: store.RegistrationRow) => (agent_name === null ? {} : { name: agent_name })

function present(row: store.ClaimedRow, now: number): ClaimedAgent {
  const isOver = statusOf(row, undefined, now) === 'expired'
  return {
    registrationId: row.id,
    agentName: row.agent_name,
    kind: row.kind,
    status: isOver ? 'expired' : 'claimed',
    orgSlug: row.slug,
    claimedAt: row.claimed_at ?? row.created_at,
    claimedBy:
      row.claimed_by === null || row.claimer === null ? null : { userId: row.claimed_by, name: row.claimer },
    revokedAt: row.revoked_at,
    endsAt: row.ends_at,
    createdAt: row.created_at,
  }
}

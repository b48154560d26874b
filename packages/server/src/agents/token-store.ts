import type { Insertable } from 'kysely'
import type { Db, Tx } from '../schema.ts'
import type { AgentTables, RegistrationRow } from './store.ts'

export async function insertToken(tx: Tx, row: Insertable<AgentTables['agent_tokens']>): Promise<void> {
  await tx.insertInto('agent_tokens').values(row).execute()
}

export async function revokeToken(tx: Tx, token: { hash: string } | { id: string }, now: number) {
  await tx
    .updateTable('agent_tokens')
    .set({ revoked_at: now })
    .where((eb) => ('id' in token ? eb('id', '=', token.id) : eb('secret_hash', '=', token.hash)))
    .where('revoked_at', 'is', null)
    .execute()
}

/** Notes the first use of each; when the others were used is known already. */
export async function noteUsed(tx: Tx, ids: readonly string[], now: number): Promise<void> {
  await tx
    .updateTable('agent_tokens')
    .set({ used_at: now })
    .where('id', 'in', [...ids])
    .where('used_at', 'is', null)
    .execute()
}

/** Whether an access token lies where it was put: nobody has come with it, nor was it taken back. */
export async function isUntouched(q: Db, id: string): Promise<boolean> {
  const found = await q
    .selectFrom('agent_tokens')
    .select('id')
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

/** The registration whose refresh tokens have this beginning, locked until the transaction ends. */
export const lockByFamily = (tx: Tx, familyHash: string): Promise<RegistrationRow | undefined> =>
  tx
    .updateTable('agent_registrations')
    .set((eb) => ({ generation: eb.ref('generation') }))
    .where('refresh_family', '=', familyHash)
    .returningAll()
    .executeTakeFirst()

export const lockRegistration = (tx: Tx, id: string): Promise<RegistrationRow | undefined> =>
  tx
    .updateTable('agent_registrations')
    .set((eb) => ({ generation: eb.ref('generation') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

/** From now on this refresh token counts and no other. */
export async function setRefresh(
  tx: Tx,
  id: string,
  refresh: Pick<
    RegistrationRow,
    | 'refresh_family'
    | 'refresh_hash'
    | 'refresh_before_hash'
    | 'refresh_token_id'
    | 'refreshed_at'
    | 'ends_at'
    | 'claim_used_at'
  >,
): Promise<void> {
  await tx.updateTable('agent_registrations').set(refresh).where('id', '=', id).execute()
}

/**
 * Tokens that ended some time ago. Of a claimed agent the one stays that came with its refresh token: whether it was used
 * tells whether the agent ever got the answer both were in.
 */
export async function deleteTokensEnded(tx: Tx, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('agent_tokens')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('agent_tokens')
        .innerJoin('agent_registrations', 'agent_registrations.id', 'agent_tokens.registration_id')
        .select('agent_tokens.id')
        .where('agent_tokens.expires_at', '<=', before)
        .where((eb) =>
          eb.or([
            eb('agent_registrations.revoked_at', 'is not', null),
            eb('agent_registrations.refresh_token_id', 'is', null),
            eb('agent_registrations.refresh_token_id', '!=', eb.ref('agent_tokens.id')),
          ]),
        )
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

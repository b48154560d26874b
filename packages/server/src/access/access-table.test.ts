import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import type { ErrorData, OperationMeta, Role, Scope } from '@trellis/contract'
import { allOperations } from '../operations/implement.ts'
import { kindsOfCaller } from '../testing/access/callers.ts'
import { type Power, rows } from '../testing/access/rows.ts'
import { type CallerKind, insertRun, newCommit, orgSlug, type World } from '../testing/access/world.ts'
import { type Answer, asEnvelope, createSqlite, foundOrg, onEachDatabase, useApp } from '../testing/index.ts'

const rolePowers: Record<Role, Power[]> = {
  member: ['repo:read', 'repo:write', 'org:read', 'keys:read', 'keys:write'],
  admin: ['repo:read', 'repo:write', 'repo:admin', 'org:read', 'org:admin', 'keys:read', 'keys:write'],
  owner: ['repo:read', 'repo:write', 'repo:admin', 'org:read', 'org:admin', 'keys:read', 'keys:write'],
}

const scopePowers: Record<Scope, Power[]> = {
  'repo:read': ['repo:read'],
  'repo:write': ['repo:read', 'repo:write'],
  'repo:admin': ['repo:read', 'repo:write', 'repo:admin'],
  'org:read': ['org:read'],
  'org:admin': ['org:read', 'org:admin'],
  'keys:read': ['keys:read'],
  'keys:write': ['keys:read', 'keys:write'],
  // Says where the others hold.
  account: [],
  '*': rolePowers.owner,
}

/** What an operation has to answer to a caller: `200`, or status, code and reason. */
function expected(path: string, kind: CallerKind): string {
  const row = rows[path]
  const operation = operations.find((candidate) => candidate.path === path)
  if (!row || !operation) return '404 NOT_FOUND'
  const { admission, ignoresCredential, needs: declared } = operation.meta
  const input = operation.inputKeys
  if (ignoresCredential) return row.gives ?? '200'
  if (kind.is === 'refused' || (kind.is === 'nobody' && admission !== 'anyone')) return '401 UNAUTHENTICATED'
  if (kind.actsAbroad) return '403 FORBIDDEN not_a_member'
  if (kind.is === 'agent' && row.noneOfAgents) return row.noneOfAgents
  const passes = row.gives ?? '200'
  if (admission === 'anyone' && (kind.is === 'nobody' || !row.needs)) return passes
  if (admission === 'session') return kind.is === 'session' ? passes : '403 FORBIDDEN scope_missing'

  if (row.open) return passes
  const needs = row.needs ?? declared
  if (!needs) throw new Error(`${path} declares no power: the table has to say what it needs`)
  const fromRole = row.anyRole || rolePowers[kind.role ?? 'member'].includes(needs)
  const scoped = (power: Power) => kind.scopes?.some((scope) => scopePowers[scope].includes(power)) ?? false

  if (input.includes('orgSlug') && kind.outside) return '403 FORBIDDEN not_a_member'
  if (operation.addressesRepo && (kind.outside || kind.only === 'other' || !scoped('repo:read')))
    return '404 REPO_NOT_FOUND'
  if (operation.addressesRun && (kind.outside || kind.only === 'other' || !scoped('repo:read')))
    return '404 RUN_NOT_FOUND'
  if (row.hides && (kind.outside || !fromRole || !scoped(needs))) return row.hides
  // What is not there is not there for everybody who may look.
  const mayLook = operation.addressesRepo || (input.includes('orgSlug') && scoped('org:read'))
  if (mayLook && passes.startsWith('404')) return passes
  if (!fromRole) return '403 FORBIDDEN insufficient_role'
  if (!scoped(needs) || (row.notForTokens && kind.is === 'token')) return '403 FORBIDDEN scope_missing'
  if (row.ownersOnly && kind.role !== 'owner') return '403 FORBIDDEN insufficient_role'
  return passes
}

const operations = allOperations().map(({ path, procedure }) => {
  const { meta, errorMap, inputSchema } = procedure['~orpc']
  return {
    path,
    meta: meta as OperationMeta,
    addressesRepo: 'REPO_NOT_FOUND' in errorMap,
    addressesRun: 'RUN_NOT_FOUND' in errorMap,
    inputKeys: Object.keys((inputSchema as { shape?: object } | undefined)?.shape ?? {}),
  }
})

function said(answer: Answer): string {
  if (answer.status === 200) return '200'
  const { status, code, data } = asEnvelope(answer)
  const { reason } = data as ErrorData<'FORBIDDEN'>
  return [status, code, reason].filter((part) => part !== undefined).join(' ')
}

onEachDatabase('access', (create) => {
  const app = useApp(create, { TRELLIS_USER_MAX_KEYS: '1000', TRELLIS_USER_MAX_ORGS: '1000' })
  let world: World
  let kinds: CallerKind[]

  before(async () => {
    const acme = await foundOrg(app, orgSlug)
    const inAcme = app.client(acme.owner.token, orgSlug)
    for (const name of ['target', 'other']) await inAcme.repos.create({ name })
    const { oid: commit } = await inAcme.git.commits.create(newCommit('main'))
    await insertRun(app)
    world = { app, acme, stray: await app.signUp('stray'), commit }
    kinds = await kindsOfCaller(world)
  })

  /**
   * Everybody comes to every operation on one of the databases. On the other a caller is found by the same few queries
   * whatever it calls, so each comes to some of them, and an owner to all.
   */
  const comes = ({ is, role }: CallerKind, nth: number) =>
    create === createSqlite || (is === 'session' && role === 'owner') || nth % 5 === 0

  for (const [at, { path, meta }] of operations.entries()) {
    const title = rows[path]
      ? `answers each kind of caller at ${path} as declared: ${[meta.admission, meta.needs].filter(Boolean).join(', ')}`
      : `has nothing for anybody at ${path}`
    it(title, async () => {
      const asked = kinds.filter((kind, i) => comes(kind, i + at))
      const answers = await Promise.all(
        asked.map(async (kind) => {
          const input = await rows[path]?.input(world, kind)
          return `${kind.title}: ${said(await app.call(path.slice(1), input ?? {}, kind.options))}`
        }),
      )
      assert.deepEqual(
        answers,
        asked.map((kind) => `${kind.title}: ${expected(path, kind)}`),
      )
    })
  }
})

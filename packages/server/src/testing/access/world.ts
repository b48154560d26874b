import type { Role, Scope } from '@trellis/contract'
import type { Person, TestOrg } from '../organizations.ts'
import type { CallOptions, TestApp } from '../test-app.ts'

export const orgSlug = 'acme'

/** Of an extension in `target`. */
export const RUN = 'run_ended'

/** The organization `acme` has the repositories `target` and `other`; `stray` is somebody with no part in it. */
export interface World {
  app: TestApp
  acme: TestOrg
  stray: Person
  /** The one commit of `target`, which puts a file `readme` on the branch `main`. */
  commit: string
}

/** One kind of caller: what it sends, and what is to be expected of it. */
export interface CallerKind {
  title: string
  options: CallOptions
  is: 'nobody' | 'refused' | 'session' | 'key' | 'token' | 'agent'
  /** Asks to act in an organization it is no member of, or that its credential was not made in. */
  actsAbroad?: boolean
  /** Acts in an organization of its own, so that nothing of acme exists for it. */
  outside?: boolean
  role?: Role
  scopes?: Scope[]
  /** The one repository its credential opens. */
  only?: 'target' | 'other'
  /** Whose keys it sees. */
  person?: Person
}

export function newCommit(branch: string) {
  const changes = [{ op: 'put' as const, path: 'readme', content: branch }]
  return { name: 'target', branch, message: 'Say something', changes }
}

/** As if it had been run before. */
export async function insertRun({ database, now }: TestApp): Promise<void> {
  const { id: repo_id, org_id } = await database.db
    .selectFrom('repos')
    .select(['id', 'org_id'])
    .where('name', '=', 'target')
    .executeTakeFirstOrThrow()
  const none = {
    depth: 0,
    bytes: 0,
    log_bytes: 0,
    ready: 0,
    created_at: 0,
    ancestors: '[]',
    capabilities: '[]',
    effective: '[]',
  }
  await database.db
    .insertInto('runs')
    .values({
      ...none,
      id: RUN,
      repo_id,
      org_id,
      extension: 'gone',
      trigger_kind: 'dispatch',
      status: 'succeeded',
      runtime: 'worker',
      lane: 'worker',
      actor_kind: 'system',
      actor_id: 'test',
      ref: 'main',
      module_commit: '0'.repeat(40),
      module_hash: 'sha256:0',
      ended_at: now(),
      input: 'null',
    })
    .execute()
}

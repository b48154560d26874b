import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { call, createRepo, fastImport, git, type Remote } from './git-stage.ts'
import { inTurns, milliseconds, type Row } from './measure.ts'
import { runTrellis, type Trellis } from './processes.ts'

/** Each of what is measured is done so often. */
const ROUNDS = 9
const A_ROUND = 10
const FEW = 100
const MANY_REPOS = 100_000
const MANY_REFS = 50_000
const MANY_DELIVERIES = 200_000
/** What grows may take half as long again. */
const GOAL = 0.67

type Step = () => Promise<unknown>

/** A push to a repository of an organization with so many. */
export async function growthRepos(): Promise<Row> {
  const [few, many] = [await runTrellis(), await runTrellis()]
  try {
    const commits = await makeCommits(few)
    const pushingBeside = async (trellis: Trellis, count: number): Promise<Step> => {
      const push = pusher(await createRepo(trellis, 'pushed'), commits)
      await push()
      change(
        trellis,
        `insert into repos (id, org_id, name, artifact_id, default_branch, read_only, size_bytes, created_at, updated_at)
         select id || seq, org_id, name || seq, artifact_id || seq, 'main', 0, 1000, seq, seq
         from repos, ${numbers(count)} where name = 'pushed'`,
        `update orgs set repo_count = repo_count + ${count}, size_bytes = size_bytes + ${count * 1000}
         where id = (select org_id from repos where name = 'pushed')`,
      )
      return push
    }
    const [ours, theirs] = [await pushingBeside(many, MANY_REPOS), await pushingBeside(few, FEW)]
    return await growth(ours, theirs, 'a push beside 100,000 repositories')
  } finally {
    await Promise.all([few.stop(), many.stop()])
  }
}

/** What a client sends once it knows where the branches are: git has to list all of them first. */
export const growthRefs = () => besideRefs('a push beside 50,000 refs', ({ push }) => push)

export const growthBranches = () =>
  besideRefs('git/branches/create beside 50,000 refs', ({ trellis, name }) => {
    let made = 0
    return () => call(trellis, 'git/branches/create', { name, branch: `made-${made++}` })
  })

interface Pushed {
  trellis: Trellis
  name: string
  push: Step
}

async function besideRefs(work: string, stepIn: (pushed: Pushed) => Step): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const commits = await makeCommits(trellis)
    const beside = async (count: number): Promise<Step> => {
      const name = `refs-${count}`
      const push = pusher(await createRepo(trellis, name), commits)
      await push()
      change(
        trellis,
        `insert into git_refs (repo_id, name, oid) select repo_id, git_refs.name || '-' || seq, oid
         from git_refs, ${numbers(count)} where repo_id = (select id from repos where name = '${name}')`,
        `update repos set refs_version = refs_version + 1 where name = '${name}'`,
      )
      return stepIn({ trellis, name, push })
    }
    return await growth(await beside(MANY_REFS), await beside(FEW), work)
  } finally {
    await trellis.stop()
  }
}

/** The few that failed among so many that did not. */
export async function growthDeliveries(): Promise<Row> {
  const trellis = await runTrellis()
  try {
    const beside = async (count: number): Promise<Step> => {
      const name = `told-${count}`
      await call(trellis, 'repos/create', { name })
      const on = { event: { types: ['repo.updated'] } }
      await call(trellis, 'webhooks/create', { name, webhook: 'hook', url: 'https://example.com/', on })
      change(
        trellis,
        `insert into webhook_deliveries (id, webhook_id, webhook_name, repo_id, message_id, event_type, seq, status,
           attempt, created_at, delivered_at)
         select 'dlv_' || repos.id || substr('000000' || seq, -7), webhooks.id, 'hook', repos.id, 'msg_' || repos.id || seq,
           'repo.updated', seq, case when seq <= 10 then 'failed' else 'success' end, 1, seq, seq
         from webhooks join repos on repos.id = webhooks.repo_id, ${numbers(count)} where repos.name = '${name}'`,
      )
      return () => call(trellis, 'webhooks/deliveries/list', { name, status: 'failed' })
    }
    return await growth(
      await beside(MANY_DELIVERIES),
      await beside(FEW),
      'the deliveries that failed, of 200,000',
    )
  } finally {
    await trellis.stop()
  }
}

async function growth(ours: Step, theirs: Step, work: string): Promise<Row> {
  const timing = (step: Step) => async () => {
    const started = performance.now()
    for (let i = 0; i < A_ROUND; i++) await step()
    return (performance.now() - started) / A_ROUND
  }
  for (const step of [ours, theirs]) await timing(step)()
  const times = await inTurns(ROUNDS, timing(ours), timing(theirs))
  return {
    work,
    peer: `beside ${FEW}`,
    ours: milliseconds(times.ours),
    theirs: milliseconds(times.theirs),
    ratio: times.theirs / times.ours,
    goal: GOAL,
  }
}

/** As if so much had happened. */
function change({ data }: Trellis, ...statements: string[]): void {
  using db = new DatabaseSync(join(data, 'trellis.db'), { timeout: 10_000 })
  db.exec('begin immediate')
  for (const statement of statements) db.exec(statement)
  db.exec('commit')
  db.exec('pragma wal_checkpoint(truncate)')
}

const numbers = (count: number): string =>
  `(with recursive numbers (seq) as (select 1 union all select seq + 1 from numbers where seq < ${count})
    select seq from numbers)`

interface Commit {
  oid: string
  /** What it has that its parent has not. */
  pack: Buffer
}

/** One after the other, as many as are pushed. */
async function makeCommits({ data }: Trellis): Promise<Commit[]> {
  const dir = join(data, 'commits.source')
  await fastImport(dir, chain())
  const oids = (await git('-C', dir, 'rev-list', '--reverse', 'main')).trim().split('\n')
  const commits: Commit[] = []
  for (const [i, oid] of oids.entries())
    commits.push({ oid, pack: await packOf(dir, `${oid}\n${i > 0 ? `^${oids[i - 1]}\n` : ''}`) })
  await rm(dir, { recursive: true })
  return commits
}

function* chain(): Generator<string> {
  for (let i = 0; i <= A_ROUND * (ROUNDS + 1); i++)
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + i} +0000\ndata 6\nCommit\nM 100644 inline file.txt\ndata 8\n${String(i).padStart(8, '0')}\n`
}

function packOf(dir: string, revisions: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      ['-C', dir, 'pack-objects', '--quiet', '--revs', '--thin', '--stdout'],
      { encoding: 'buffer' },
      (error, stdout) => (error ? reject(error) : resolve(stdout)),
    )
    child.stdin?.end(revisions)
  })
}

/** Pushes one commit after the other, each with what git sends. */
function pusher({ port, path, headers }: Remote, commits: readonly Commit[]): Step {
  const url = `http://127.0.0.1:${port}${path}/git-receive-pack`
  let before = '0'.repeat(40)
  let pushed = 0
  return async () => {
    const { oid, pack } = commits[pushed++] as Commit
    const line = `${before} ${oid} refs/heads/main\0 report-status agent=git/2.39.5`
    const command = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-git-receive-pack-request' },
      body: Buffer.concat([Buffer.from(command), pack]),
    })
    const answer = await response.text()
    if (!answer.includes('ok refs/heads/main')) throw new Error(`${response.status} ${answer}`)
    before = oid
  }
}

import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type BranchName, branchRef, type Oid, parseFilePath } from '../git/names.ts'
import { ObjectMissing, withObjects } from '../git/objects/reader.ts'
import { PackMissing, type PackStore } from '../git/packs/pack-store.ts'
import { createWorkingDirectories } from '../git/packs/working-directory.ts'
import { type Git, GitError, type OpenRepo, openRepo } from '../git/process/command.ts'
import { complaintsIn } from '../git/process/progress.ts'
import type { Ref } from '../git/protocol/advertisement.ts'
import { inGroups } from '../platform/groups.ts'
import type { RegisteredRepo, RepoRegister } from '../repos/register.ts'
import type { Db } from '../schema.ts'
import * as healthStore from './health-store.ts'
import { listedPacks } from './listed-packs.ts'
import * as refStore from './ref-store.ts'
import * as store from './store.ts'

interface VerificationDeps {
  db: Db
  packs: PackStore
  register: RepoRegister
  git: Git
  /** A directory that may be filled and is thrown away. */
  scratch: string
  /** Whether every object is read; otherwise what is there is compared with what should be. */
  deep: boolean
}

/** Something that is not as the database says. */
interface CodeProblem {
  /** By their full names; some of them, where a pack is shared by many. */
  repositories: string[]
  text: string
}

const NAMED = 10
/** Git processes side by side. */
const AT_ONCE = Math.min(availableParallelism(), 8)
const REPOS = 100
const PACKS = 500

/** Holds refs, packs and sizes against each other. Nothing is changed, and a server may be at work meanwhile. */
export function createCodeVerification({ db, packs, register, git, scratch, deep }: VerificationDeps) {
  async function examinePack(pack: store.PackRow): Promise<string | undefined> {
    const damage = await packs.examine(pack, deep ? {} : undefined)
    if (damage === 'size') return `has another size than the ${pack.bytes} bytes that were stored`
    if (damage) return 'does not read as it was written'
    const files = deep ? await packs.filesOf(pack.id) : []
    const index = parseFilePath(files.find(({ name }) => name.endsWith('.idx'))?.path ?? '')
    if (!index) return undefined
    return git.run(scratch, { verb: 'verify-pack', values: [index] }).then(() => undefined, inWords)
  }

  async function* verifyPacks(onPack: () => void): AsyncGenerator<CodeProblem> {
    const look = async (pack: store.PackRow): Promise<CodeProblem[]> => {
      const wrong = await examinePack(pack).catch((error: unknown) => {
        if (error instanceof PackMissing) return 'is listed and not stored'
        throw error
      })
      onPack()
      // It may have been folded into another since it was listed.
      if (!wrong || !(await healthStore.listListedOf(db, [pack.id])).has(pack.id)) return []
      const names = await register.namesOf(await healthStore.listReposWith(db, pack.id, NAMED))
      return [{ repositories: [...names.values()], text: `pack ${pack.id} ${wrong}` }]
    }
    for await (const group of inGroups(listedPacks(db), AT_ONCE))
      yield* (await Promise.all(group.map(look))).flat()
  }

  /** Files that no repository needs: new ones whose push is under way, or old ones that a sweep will remove. */
  async function countUnlisted(): Promise<number> {
    let unlisted = 0
    for await (const ids of packs.listIds())
      for (let i = 0; i < ids.length; i += PACKS) {
        const some = ids.slice(i, i + PACKS)
        unlisted += some.length - (await healthStore.listListedOf(db, some)).size
      }
    return unlisted
  }

  async function examineRepo(repo: RegisteredRepo): Promise<string[]> {
    // In this order: a pack listed too many does no harm.
    const refs = await refStore.listRefs(db, repo.id)
    const packIds = (await store.listPacks(db, repo.id)).map(({ id }) => id)
    if (refs.length === 0 && packIds.length === 0) return []
    const dir = join(scratch, repo.id)
    const directories = createWorkingDirectories()
    try {
      using _lease = await directories.lease({ dir, packIds, store: packs })
      const headBranch = branchRef(repo.default_branch as BranchName)
      await directories.writeRefs(dir, { headBranch, version: '', refs: () => refs })
      const opened = openRepo(git, dir)
      const lost = await findLost(opened, refs)
      if (lost.length > 0 || !deep) return lost
      const broken = await opened
        .run({ verb: 'rev-list', options: ['--objects', '--all', '--quiet'] })
        .then(() => undefined, inWords)
      return broken ? [`what its refs lead to is not all there: ${broken}`] : []
    } catch (error) {
      if (!(error instanceof PackMissing)) throw error
      return ['cannot be read, because a pack it lists is not stored']
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }

  async function* verifyRepos(onRepo: () => void): AsyncGenerator<CodeProblem> {
    const look = async (repo: RegisteredRepo): Promise<CodeProblem[]> => {
      onRepo()
      if ((await examineRepo(repo)).length === 0) return []
      // Somebody may have deleted it under our eyes.
      const isThere = (await register.namesOf([repo.id])).has(repo.id)
      return isThere ? (await examineRepo(repo)).map((text) => problemOf(repo, text)) : []
    }
    for (let after = ''; ; ) {
      const page = await register.list({ after, limit: REPOS })
      const ids = page.map(({ id }) => id)
      for (const { id, said, bytes } of ids.length > 0 ? await healthStore.listSizes(db, ids) : []) {
        const repo = page.find((candidate) => candidate.id === id)
        if (repo && said !== bytes)
          yield problemOf(repo, `is said to have ${said} bytes, and its packs have ${bytes}`)
      }
      for await (const group of inGroups(page, AT_ONCE)) yield* (await Promise.all(group.map(look))).flat()
      const last = page.at(-1)
      if (!last || page.length < REPOS) return
      after = last.id
    }
  }

  return { verifyPacks, verifyRepos, countUnlisted }
}

/** The refs whose objects are in none of the packs. */
async function findLost(opened: OpenRepo, refs: readonly Ref[]): Promise<string[]> {
  const targets = refs.flatMap(({ name, oid, peeled }) => [
    { name, oid },
    ...(peeled ? [{ name: `${name}^{}`, oid: peeled }] : []),
  ])
  const lost: string[] = []
  for (let i = 0; i < targets.length; i += PACKS) {
    const some = targets.slice(i, i + PACKS)
    const found = await withObjects(opened, (objects) =>
      objects.listInfo(some.map(({ oid }): Oid => oid)),
    ).catch((error: unknown) => {
      // Git stumbles over what it finds. Which one it was, is in what is wrong with the packs.
      if (error instanceof GitError || error instanceof ObjectMissing) return undefined
      throw error
    })
    if (!found) return ['has refs to objects that cannot be read']
    for (const [k, { name, oid }] of some.entries())
      if (!found[k]) lost.push(`${name} points to ${oid}, which is in none of its packs`)
  }
  return lost
}

const problemOf = ({ slug, name }: RegisteredRepo, text: string): CodeProblem => ({
  repositories: [`${slug}/${name}`],
  text,
})

/** What git says is wrong. */
function inWords(error: unknown): string {
  if (!(error instanceof GitError) || error.exitCode === null) throw error
  return complaintsIn(error.stderr).slice(0, 2).join('; ') || error.message
}

import type { RefRefusals, RefRule } from '@trellis/contract'
import { type Caller, requireThawed } from '../access/caller.ts'
import { refPatternProblem } from '../access/ref-patterns.ts'
import { by, type EventsService } from '../events/service.ts'
import { repoScope } from '../events/types.ts'
import { Fault, invalid } from '../platform/fault.ts'
import type { RepoRow, ReposService } from '../repos/service.ts'
import type { Database } from '../schema.ts'
import { isRole, rulesOf } from './ref-rules.ts'

/** All of them are asked whenever refs move. */
const MAX_RULES = 50

interface RulesDeps {
  database: Database
  events: EventsService
  repos: ReposService
}

export type RulesService = ReturnType<typeof createRulesService>

/** The rules for the refs of a repository, as those who administrate it see and change them. */
export function createRulesService({ database, events, repos }: RulesDeps) {
  /** Changes the list under the lock of its row; `changed` gives undefined to leave it as it is. */
  async function change(
    caller: Caller,
    repo: RepoRow,
    about: { pattern: string; refuse: RefRefusals | null },
    changed: (rules: readonly RefRule[]) => RefRule[] | undefined,
  ): Promise<boolean> {
    requireThawed(caller)
    return database.transact(async (tx) => {
      const current = await repos.lockIn(tx, repo.id)
      if (!current) throw new Fault('REPO_NOT_FOUND', { name: repo.name })
      const rules = changed(rulesOf(current))
      if (!rules) return false
      await repos.setRefRulesIn(tx, repo.id, JSON.stringify(rules))
      await events.append(tx, {
        ...by(caller),
        scope: repoScope(repo.id),
        type: 'repo.rules.changed',
        subject: about.pattern,
        payload: about,
      })
      return true
    })
  }

  return {
    async list(caller: Caller, { name }: { name: string }) {
      const repo = await repos.open(caller, name, 'repo:admin')
      return { items: [...rulesOf(repo)], nextCursor: null }
    },

    async set(
      caller: Caller,
      { name, pattern, refuse }: { name: string; pattern: string; refuse: RefRefusals },
    ): Promise<RefRule> {
      requireSound(pattern, refuse)
      const repo = await repos.open(caller, name, 'repo:admin')
      const rule: RefRule = { pattern, refuse }
      await change(caller, repo, rule, (rules) => {
        const at = rules.findIndex((other) => other.pattern === pattern)
        if (at >= 0) return rules.with(at, rule)
        if (rules.length >= MAX_RULES)
          throw new Fault('QUOTA_EXCEEDED', { scope: 'org', limit: MAX_RULES, observed: rules.length })
        return [...rules, rule]
      })
      return rule
    },

    async delete(
      caller: Caller,
      { name, pattern }: { name: string; pattern: string },
    ): Promise<{ deleted: boolean }> {
      const repo = await repos.open(caller, name, 'repo:admin')
      const deleted = await change(caller, repo, { pattern, refuse: null }, (rules) => {
        const left = rules.filter((rule) => rule.pattern !== pattern)
        return left.length < rules.length ? left : undefined
      })
      return { deleted }
    },
  }
}

function requireSound(pattern: string, refuse: RefRefusals): void {
  const problem = refPatternProblem(pattern)
  if (problem) throw invalid(['pattern'], problem)
  const entries = Object.entries(refuse).filter(([, exception]) => exception !== undefined)
  if (entries.length === 0) throw invalid(['refuse'], 'Say what is refused: create, delete, force or push')
  for (const [action, exception] of entries)
    for (const [i, entry] of exception.except.entries())
      if (!isRole(entry) && !/^[a-z]+_\w+$/.test(entry))
        throw invalid(
          ['refuse', action, 'except', i],
          'Give a role, or the id of a credential, person or agent',
        )
}

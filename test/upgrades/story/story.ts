import { SINCE } from '../manifest.ts'
import { tellOfExtensions } from './extensions.ts'
import { listRepos, tellOfGit } from './git.ts'
import { closeDoors, tellOfPeople } from './people.ts'
import { tellOfRuns } from './runs.ts'
import { tellOfStrangers } from './strangers.ts'
import type { Teller } from './teller.ts'
import { fallBehind, installWebhooks } from './webhooks.ts'

/** What happens on a server before it becomes a fixture: something of every kind that its version knows. */
export async function tellStory(teller: Teller): Promise<void> {
  const { schema, ok, acme, told } = teller
  const knows = (what: keyof typeof SINCE) => schema >= SINCE[what]
  await tellOfPeople(teller)
  if (knows('webhooks')) await installWebhooks(teller)
  if (knows('git')) await tellOfGit(teller)
  if (knows('agents')) await tellOfStrangers(teller)
  if (knows('rules')) {
    const refuse = { create: { except: ['admin'] }, force: {} }
    await ok('rules/set', { name: 'renamed', pattern: 'release/*', refuse }, acme())
    const limited = { name: 'hello', scope: 'write', refs: ['topic/*'] }
    told.credentials['token for topics'] = (await ok('tokens/create', limited, acme())).secret
  }
  if (knows('extensions')) await tellOfExtensions(teller)
  if (knows('runs')) await tellOfRuns(teller)
  if (knows('webhooks')) await fallBehind(teller)
  await closeDoors(teller)
  if (knows('git')) told.repos.push(...(await listRepos(teller)))
}

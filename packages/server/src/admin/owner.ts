import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keptSecret } from '../secrets/files.ts'
import { type Command, requireConsent, Unfit } from './command.ts'
import { placesOf } from './places.ts'
import { linkOf, openServices } from './services.ts'

const link: Command = {
  name: 'owner link',
  usage: '[--json]',
  about: 'Print a new link for the owner of the first start',
  help: `The link works once and for a day, and lets whoever opens it set the address and password of that account; the one before
is over. Nothing else changes until it is used: then all sessions of the account end.

  --json   a JSON object: link`,
  options: { json: { type: 'boolean' } },
  positionals: 0,
  async run(circumstances) {
    await using services = await openServices(circumstances)
    const { values, print } = circumstances
    const url = linkOf(circumstances, await services.owner.newLink())
    print(values.json ? JSON.stringify({ link: url }) : url)
    return 0
  },
}

const key: Command = {
  name: 'owner key',
  usage: '[--yes] [--json]',
  about: 'Make a new API key for the owner of the first start',
  help: `Prints the key and keeps it in owner.key in the data directory. The one before ends at once. Where TRELLIS_OWNER_KEY is set
it is the key: set it to another, and start again.

  --yes    do not ask
  --json   a JSON object: key`,
  options: { yes: { type: 'boolean' }, json: { type: 'boolean' } },
  positionals: 0,
  async run(circumstances) {
    const { config, values, print } = circumstances
    if (config.owner.key)
      throw new Unfit('TRELLIS_OWNER_KEY is set, and is the key: set it to another, and start again.')
    await using services = await openServices(circumstances)
    await requireConsent(circumstances, "The owner's key of the first start ends.")
    const secret = await services.owner.newKey()
    const file = join(placesOf(config).dataDir, 'owner.key')
    await rm(file, { force: true })
    await keptSecret(file, () => secret)
    print(values.json ? JSON.stringify({ key: secret }) : secret)
    return 0
  },
}

export const ownerCommands: readonly Command[] = [link, key]

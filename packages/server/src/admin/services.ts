import { ownAddress } from '../platform/own-address.ts'
import type { Circumstances } from './command.ts'

type Given = Pick<Circumstances, 'config' | 'tell'>

/** Loaded when it is needed: most of the server comes with it, and whoever asks for help would wait for that too. */
export async function openServices(given: Given) {
  const { openPeopleAndOrgs } = await import('./people-and-orgs.ts')
  return openPeopleAndOrgs(given)
}

/** Where the server shows what the secret of a link opens. */
export function linkOf({ config, tell }: Given, secret: string): string {
  const { baseUrl, listen } = config
  if (!baseUrl) tell('TRELLIS_BASE_URL is not set: the link leads to the address in TRELLIS_LISTEN.')
  return `${baseUrl ?? ownAddress(listen.host, listen.port).url}/enter/${secret}`
}

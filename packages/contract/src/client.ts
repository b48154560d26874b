import { createORPCClient } from '@orpc/client'
import type { ContractRouterClient } from '@orpc/contract'
import { OpenAPILink } from '@orpc/openapi-client/fetch'
import { API_PREFIX, type Contract, contract } from './contract.ts'

export { isDefinedError, ORPCError as TrellisError, safe } from '@orpc/client'

export type TrellisClient = ContractRouterClient<Contract>

export interface TrellisClientOptions {
  /** Where the server is, for example `https://trellis.example`. */
  url: string
  /** A session, key, repository or agent token; leave it out for the operations open to anyone. */
  token?: string | undefined
  /** The slug of the organization a session acts in; its personal one when left out. */
  org?: string | undefined
  fetch?: ((request: Request) => Promise<Response>) | undefined
}

/** A client typed by the contract: `await trellis.repos.create({ name: 'hello' })`. */
export function createTrellisClient({ url, token, org, fetch }: TrellisClientOptions): TrellisClient {
  return createORPCClient(
    new OpenAPILink(contract, {
      url: new URL(API_PREFIX, url).href,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(org && { 'trellis-org': org }),
      },
      ...(fetch && { fetch: (request) => fetch(request) }),
    }),
  )
}

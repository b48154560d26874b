import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What the contract says, for programs and for people. */
export interface ApiDocuments {
  openApi: string
  reference: string
}

/** What they have to know of the server they are about. */
export interface AboutServer {
  baseUrl: string
  hasConsole: boolean
}

/**
 * Made when somebody first asks, and kept. In a thread, which ends with it: to make them takes most of a second, for
 * which nobody else would be served.
 */
export function createApiDocuments(about: AboutServer): () => Promise<ApiDocuments> {
  let made: Promise<ApiDocuments> | undefined
  async function make(): Promise<ApiDocuments> {
    const thread = new Worker(new URL('./documents-thread.ts', import.meta.url), { workerData: about })
    // Rejects with what ends the thread instead.
    const [documents] = (await once(thread, 'message')) as [ApiDocuments]
    return documents
  }
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

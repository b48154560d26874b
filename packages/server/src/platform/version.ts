import { createRequire } from 'node:module'

/** Of everything in this repository: there is one number, and it stands in the package.json at its root. */
export const VERSION = (createRequire(import.meta.url)('../../../../package.json') as { version: string })
  .version

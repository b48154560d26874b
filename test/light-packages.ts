// Has packages taken from where `bundled-packages.ts` put them. Without, all is as it always was.

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/** The variable that names the list. */
export const PACKAGES = 'LIGHT_PACKAGES'

const list = process.env[PACKAGES]
if (list) {
  const places: Record<string, string> = JSON.parse(readFileSync(list, 'utf8'))
  registerHooks({
    resolve(name, context, next) {
      const url = places[name]
      const isOurs = !context.parentURL?.includes('/node_modules/')
      return url && isOurs ? { url, format: 'module', shortCircuit: true } : next(name, context)
    },
  })
}

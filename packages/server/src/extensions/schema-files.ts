// Writes the schemas of descriptors into the package for authors: `npm run docs`.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedSchemas } from './published-schemas.ts'

const PACKAGE = join(import.meta.dirname, '../../../extension')

/** What is in the files, by their paths. */
export const schemaFiles: Record<string, string> = Object.fromEntries(
  Object.entries(publishedSchemas).map(([name, schema]) => [
    join(PACKAGE, `${name}.schema.json`),
    `${JSON.stringify(schema, null, 2)}\n`,
  ]),
)

if (import.meta.main) for (const [file, text] of Object.entries(schemaFiles)) writeFileSync(file, text)

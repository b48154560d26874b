// A backup is a directory. The manifest is written last, and says how everything else in it must be:
//
//   manifest.json             this
//   database/<table>.jsonl    the rows of a table, one a line, all of one moment
//   packs.jsonl               the packs that are listed, one a line, with their files
//   packs/<xx>/<id>.<part>    the packs, as in a data directory
//   server.key, owner.key …   secrets of the data directory, where there are any, and its id

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { Unfit } from '../command.ts'

export const MANIFEST = 'manifest.json'
export const PACK_LIST = 'packs.jsonl'
export const tableFile = (table: string): string => join('database', `${table}.jsonl`)

/** What a data directory may have that cannot be made again. */
export const SECRETS = ['server.key', 'owner.key', 'owner.password', 'data.id'] as const

const Digest = z.object({ bytes: z.int(), sha256: z.string() })
export type Digest = z.infer<typeof Digest>

const Manifest = z.object({
  format: z.literal('trellis-backup'),
  version: z.literal(1),
  createdAt: z.string(),
  database: z.object({
    dialect: z.enum(['sqlite', 'postgres']),
    schemaVersion: z.int().min(1),
    /** Those first that rows of others refer to. */
    tables: z.array(Digest.extend({ name: z.string().regex(/^[a-z_]+$/), rows: z.int() })),
  }),
  packs: z.object({ count: z.int(), bytes: z.int(), missing: z.int(), list: Digest }),
  secrets: z.array(Digest.extend({ name: z.enum(SECRETS) })),
})
export type Manifest = z.infer<typeof Manifest>

/** A line of the list of packs. */
export const PackLine = z.object({
  id: z.string().regex(/^[0-9a-f]{40}$/),
  bytes: z.int(),
  files: z.array(Digest.extend({ name: z.string().regex(/^[0-9a-f]{2}\/[0-9a-f]{40}\.[a-z]+$/) })),
})
export type PackLine = z.infer<typeof PackLine>

/** Throws `Unfit` when there is no whole backup in the directory. */
export async function readManifest(directory: string): Promise<Manifest> {
  const text = await readFile(join(directory, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
      throw new Unfit(`${directory} is no backup: it has no ${MANIFEST}`)
    throw error
  })
  try {
    return Manifest.parse(JSON.parse(text))
  } catch (cause) {
    throw new Unfit(
      `${join(directory, MANIFEST)} cannot be understood: it is damaged, or of a newer Trellis`,
      {
        cause,
      },
    )
  }
}

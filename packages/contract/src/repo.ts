import * as z from 'zod'
import { IsoTime, Timestamp } from './names.ts'

export const Repo = z.object({
  name: z.string().meta({ examples: ['hello'] }),
  ownerId: z.string().describe('The id of the organization it belongs to.'),
  defaultBranch: z.string().meta({ examples: ['main'] }),
  artifactId: z.string().nullable().describe('The id of the stored git objects behind it.'),
  remote: z
    .string()
    .nullable()
    .meta({
      description: 'Where git clones from and pushes to.',
      examples: ['https://trellis.example/git/acme/hello.git'],
    }),
  readOnly: z.boolean().describe('While it is, nobody can push.'),
  canWrite: z.boolean().describe('Whether the caller can push, as things are.'),
  canAdmin: z.boolean().describe('Whether the caller may administer it.'),
  sizeBytes: z.int().min(0),
  lastPushAt: IsoTime.nullable(),
  source: z.string().nullable().describe('What it was imported or forked from.'),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Repo = z.infer<typeof Repo>

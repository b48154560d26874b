import * as z from 'zod'
import { StringList } from './names.ts'

/** What an extension or a webhook listens to. */
export const Subscription = z.object({
  push: z.object({ branches: StringList, paths: StringList }).partial().optional(),
  event: z
    .object({
      types: z.array(z.string()).min(1).max(32),
      subject: z.string().min(1).optional(),
      from: z.string().min(1).optional(),
    })
    .optional(),
})
export type Subscription = z.infer<typeof Subscription>

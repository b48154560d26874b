import * as z from 'zod'
import { StringList } from './names.ts'

export const Subscription = z
  .object({
    push: z
      .object({
        branches: StringList.meta({
          description: 'Patterns of short branch names; every ref when left out.',
          examples: [['main', 'release/*']],
        }),
        paths: StringList.meta({
          description: 'Patterns of changed files; whatever changed when left out.',
          examples: [['src/**', '!**/*.md']],
        }),
      })
      .partial()
      .optional(),
    event: z
      .object({
        types: z
          .array(z.string())
          .min(1)
          .max(32)
          .meta({ description: 'Exact types, or patterns.', examples: [['repo.updated', 'git.*']] }),
        subject: z.string().min(1).optional().describe('A pattern of what the event is about.'),
        from: z
          .string()
          .min(1)
          .optional()
          .meta({ description: 'A kind of actor, the id of one, or both.', examples: ['agent'] }),
      })
      .optional(),
  })
  .describe('What an extension or a webhook listens to: pushes, events, or either.')
export type Subscription = z.infer<typeof Subscription>

/** As somebody writes it: a word that is mistyped would have them hear of everything. */
export const WrittenSubscription = z.strictObject({
  push: Subscription.shape.push.unwrap().strict().optional(),
  event: Subscription.shape.event.unwrap().strict().optional(),
})

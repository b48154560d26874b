import type { Commit } from '@trellis/contract'
import { useState } from 'react'
import { useAction } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Dialog } from '../../../ui/Dialog.tsx'
import { DialogForm } from '../../../ui/DialogForm.tsx'
import { Field, Textarea } from '../../../ui/Field.tsx'
import { readMessage } from '../CommitPage.tsx'
import styles from './Merge.module.css'
import type { MergeResult, Preview } from './MergePanel.tsx'

type Strategy = 'merge' | 'fast-forward' | 'squash'

interface MergeDialogProps {
  preview: Preview
  base: string
  head: string
  commits: readonly Commit[]
  onClose: () => void
  onDone: (result: MergeResult) => void
}

/** How it shall be merged, and what will happen, before it does. */
export function MergeDialog({ preview, base, head, commits, onClose, onDone }: MergeDialogProps) {
  const { org, name, api } = useRepo()
  const ways = waysFor(preview, base, head)
  const [strategy, setStrategy] = useState<Strategy>(ways[0]?.strategy ?? 'merge')
  const [messages, setMessages] = useState<Partial<Record<Strategy, string>>>({})
  const message = messages[strategy] ?? usualMessage(strategy, { base, head, commits })
  const merge = useAction(
    () =>
      api.git.merge({
        name,
        branch: base,
        from: preview.from,
        strategy,
        expectedHead: preview.oid,
        ...(strategy !== 'fast-forward' && message.trim() && { message }),
      }),
    {
      changes: { org, paths: ['git/', 'repos/', 'events/'] },
      onDone: (result) => {
        onDone(result)
        onClose()
      },
    },
  )
  return (
    <Dialog open onClose={onClose} title={`Merge ${head} into ${base}`}>
      <DialogForm
        act={`Merge into ${base}`}
        action={merge}
        onSubmit={() => merge.run(undefined)}
        onClose={onClose}
      >
        <fieldset className={styles.ways}>
          <legend className="heard">How</legend>
          {ways.map((way) => (
            <label key={way.strategy}>
              <input
                type="radio"
                name="strategy"
                checked={way.strategy === strategy}
                onChange={() => setStrategy(way.strategy)}
              />
              <span>
                {way.label}
                <span className={styles.hint}>{way.about}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {strategy !== 'fast-forward' && (
          <Field label="Commit message">
            {(control) => (
              <Textarea
                {...control}
                mono
                rows={5}
                value={message}
                onChange={({ target }) => setMessages({ ...messages, [strategy]: target.value })}
              />
            )}
          </Field>
        )}
      </DialogForm>
    </Dialog>
  )
}

function waysFor({ outcome }: Preview, base: string, head: string) {
  const forward = {
    strategy: 'fast-forward',
    label: 'Move forward',
    about: `${base} moves to where ${head} is. No new commit is made.`,
  } as const
  const merge = {
    strategy: 'merge',
    label: 'Merge commit',
    about: `A commit on ${base} with both as parents. All commits of ${head} stay as they are.`,
  } as const
  const squash = {
    strategy: 'squash',
    label: 'One commit',
    about: `All changes of ${head} as one new commit on ${base}.`,
  } as const
  return outcome === 'fast-forward' ? [forward, merge, squash] : [merge, squash]
}

function usualMessage(
  strategy: Strategy,
  { base, head, commits }: { base: string; head: string; commits: readonly Commit[] },
): string {
  if (strategy !== 'squash') return `Merge ${head} into ${base}`
  const [only] = commits
  if (only && commits.length === 1) return only.message.trim()
  const summaries = commits.toReversed().map(({ message }) => `- ${readMessage(message).summary}`)
  return [`Merge ${head}`, '', ...summaries].join('\n')
}

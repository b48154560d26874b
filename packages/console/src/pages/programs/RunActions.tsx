import { useNavigate } from '@tanstack/react-router'
import type { Run } from '@trellis/contract'
import { trellis } from '../../api/client.ts'
import { useAction } from '../../api/queries.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import styles from './Programs.module.css'
import { RunProblem } from './ProgramsProblem.tsx'

/** What one can do with a run: end it, or have it once more. */
export function RunActions({ org, name, run }: { org: string; name: string; run: Run }) {
  const api = trellis(org)
  const navigate = useNavigate()
  const ref = run.ref === run.canonicalRef ? undefined : run.ref
  const cancel = useAction(() => api.runs.cancel({ id: run.id }), {
    done: ({ run }) => (run.endedAt === null ? 'It is told to end' : 'The run has ended'),
    changes: { org, paths: ['runs/'] },
  })
  const again = useAction(
    () =>
      api.runs.dispatch({
        name,
        extension: run.extension,
        input: run.input,
        ...(run.trigger === 'dispatch' && ref && { ref }),
      }),
    {
      changes: { org, paths: ['runs/list'] },
      onDone: ({ run: { id } }) =>
        void navigate({ to: '/o/$org/$repo/runs/$id', params: { org, repo: name, id } }),
    },
  )
  return (
    <div className={styles.stack}>
      <div className={styles.inline}>
        {run.endedAt === null && (
          <Button kind="danger" busy={cancel.busy} onClick={() => cancel.run(undefined)}>
            Cancel
          </Button>
        )}
        <LinkButton
          to="/o/$org/$repo/extensions/$name"
          params={{ org, repo: name, name: run.extension }}
          search={{ from: run.id, ...(run.trigger === 'dispatch' && ref && { ref }) }}
        >
          Change the input
        </LinkButton>
        <Button icon="play" busy={again.busy} onClick={() => again.run(undefined)}>
          Run again
        </Button>
      </div>
      <RunProblem of={again.error ? again : cancel} />
    </div>
  )
}

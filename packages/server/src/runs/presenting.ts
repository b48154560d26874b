import type { Run, RunStep } from '@trellis/contract'
import { CANONICAL_REF } from '../extensions/canonical-ref.ts'
import { errorIn, type ShownAsked } from './shown-steps.ts'
import type { StepOutline } from './step-store.ts'
import type { RunRow } from './store.ts'

/** A run as everybody sees it. */
export const presentRun = (run: RunRow, repoName: string): Run => ({
  id: run.id,
  repoId: run.repo_id,
  repoName,
  extension: run.extension,
  trigger: run.trigger_kind,
  status: run.status,
  actor: { kind: run.actor_kind, id: run.actor_id },
  ref: run.ref,
  canonicalRef: CANONICAL_REF,
  before: run.before_oid,
  after: run.after_oid,
  commitSha: run.commit_sha,
  canonicalCommitSha: run.canonical_commit,
  executedModuleHash: run.module_hash,
  canonicalDescriptorHash: run.descriptor_hash,
  canonicalGrantHash: run.grant_hash,
  causeEventId: run.cause_event_id,
  rootEventId: run.root_event_id,
  tokenId: run.token_id,
  error: run.error,
  causationDepth: run.depth,
  exitCode: run.exit_code,
  input: JSON.parse(run.input),
  ...(run.output !== null && { output: JSON.parse(run.output) }),
  ...(run.input_schema !== null && { inputSchema: JSON.parse(run.input_schema) }),
  ...(run.output_schema !== null && { outputSchema: JSON.parse(run.output_schema) }),
  runtime: run.runtime,
  capabilities: JSON.parse(run.capabilities),
  effectiveCapabilities: JSON.parse(run.effective),
  createdAt: run.created_at,
  startedAt: run.started_at,
  endedAt: run.ended_at,
})

/** A step of a workflow, without what it gave. */
export function presentStep(step: StepOutline): RunStep {
  const { event, shown } = JSON.parse(step.asked) as ShownAsked & { event?: Wait }
  return {
    step: step.step,
    name: shown?.name ?? step.name,
    kind: step.kind,
    state: step.state,
    attempt: step.attempt,
    begunAt: step.begun_at,
    dueAt: step.due_at,
    endedAt: step.ended_at,
    waitsFor: event ? { type: event.type, ...subjectOf(shown ?? event) } : null,
    error: step.error === null ? null : errorIn(step.error),
  }
}

interface Wait {
  type: string
  subject?: string
}

const subjectOf = ({ subject }: { subject?: string }) => subject !== undefined && { subject }

import type { Subscription, Webhook } from '@trellis/contract'
import { useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Form, FormActions, TextField } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { EventPicker, listed } from './EventPicker.tsx'
import styles from './Webhooks.module.css'

export interface WebhookFields {
  webhook: string
  url: string
  on: Subscription
  contentType: string
}

interface WebhookFormProps {
  /** What is changed; a new one when left out. */
  webhook?: Webhook
  act: string
  action: { busy: boolean; error: Error | null }
  onSave: (fields: WebhookFields) => void
  onCancel?: () => void
}

export function WebhookForm({ webhook, act, action, onSave, onCancel }: WebhookFormProps) {
  const [name, setName] = useState(webhook?.name ?? '')
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [contentType, setContentType] = useState(String(webhook?.contentType ?? 'application/json'))
  const [on, setOn] = useState<Subscription>(webhook?.on ?? {})
  const problems = problemsIn(action.error)
  const isSome = Object.keys(problems).length > 0
  return (
    <Form
      onSubmit={() => onSave({ webhook: name, url, on: cleaned(on), contentType })}
      className={styles.form}
    >
      {!webhook && (
        <TextField
          label="Name"
          hint="How it is called here and in the log: ci, chat."
          problem={problems.webhook}
          mono
          required
          maxLength={64}
          value={name}
          onChange={setName}
        />
      )}
      <TextField
        label="URL"
        hint="http or https, on a host with public addresses. It is sent a POST for each event."
        problem={problems.url}
        mono
        type="url"
        required
        placeholder="https://ci.example.com/hooks/trellis"
        value={url}
        onChange={setUrl}
      />
      <SubscriptionFields on={on} onChange={setOn} problem={problems.on} />
      <TextField
        label="Content type"
        hint="Bodies are JSON."
        problem={problems.contentType}
        mono
        value={contentType}
        onChange={setContentType}
      />
      {!isSome && <ActionProblem of={action} />}
      <FormActions>
        <Button kind="first" type="submit" busy={action.busy}>
          {act}
        </Button>
        {onCancel && (
          <Button kind="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </FormActions>
    </Form>
  )
}

interface SubscriptionFieldsProps {
  on: Subscription
  onChange: (on: Subscription) => void
  problem: string | undefined
}

function SubscriptionFields({ on: { push, event }, onChange, problem }: SubscriptionFieldsProps) {
  const change = (next: Subscription) => onChange(cleaned({ push, event, ...next }))
  const some = event ?? { types: [] }
  return (
    <fieldset className={styles.subscription}>
      <legend>What it hears of</legend>
      <p className={styles.hint}>
        {push || event
          ? 'Either of what is ticked is enough.'
          : 'Every event of the repository. Tick what it should hear of to narrow that down.'}
      </p>
      <Checkbox
        label="Pushes"
        checked={push !== undefined}
        onChange={({ target }) => change({ push: target.checked ? {} : undefined })}
      />
      {push && (
        <div className={styles.part}>
          <Patterns
            label="Branches"
            hint="Patterns, with commas: main, release/*. All when empty."
            value={push.branches}
            onChange={(branches) => change({ push: { ...push, branches } })}
          />
          <Patterns
            label="Paths"
            hint="Patterns of changed files: src/**, !**/*.md. Whatever changed when empty."
            value={push.paths}
            onChange={(paths) => change({ push: { ...push, paths } })}
          />
        </div>
      )}
      <Checkbox
        label="Events of some types"
        checked={event !== undefined}
        onChange={({ target }) => change({ event: target.checked ? some : undefined })}
      />
      {event && (
        <div className={styles.part}>
          <EventPicker types={event.types} onChange={(types) => change({ event: { ...event, types } })} />
          <Patterns
            label="Subject"
            hint="A pattern of what the event is about: task/*. Anything when empty."
            value={event.subject ? [event.subject] : []}
            onChange={([subject]) => change({ event: { types: event.types, from: event.from, subject } })}
          />
          <Patterns
            label="From"
            hint="A kind of actor (user, agent, system), or the id of one. Anybody when empty."
            value={event.from ? [event.from] : []}
            onChange={([from]) => change({ event: { types: event.types, subject: event.subject, from } })}
          />
        </div>
      )}
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  )
}

interface PatternsProps {
  label: string
  hint: string
  value: readonly string[] | undefined
  onChange: (value: string[]) => void
}

const Patterns = ({ label, hint, value = [], onChange }: PatternsProps) => (
  <TextField
    label={label}
    hint={hint}
    mono
    defaultValue={value.join(', ')}
    onChange={(text) => onChange(listed(text))}
  />
)

/** Without what says nothing: the server takes no unknown or empty words. */
function cleaned({ push, event }: Subscription): Subscription {
  return {
    ...(push && {
      push: {
        ...(push.branches?.length && { branches: push.branches }),
        ...(push.paths?.length && { paths: push.paths }),
      },
    }),
    ...(event && {
      event: {
        types: event.types,
        ...(event.subject && { subject: event.subject }),
        ...(event.from && { from: event.from }),
      },
    }),
  }
}

/** What the server has against each part, by the first word of its path. */
function problemsIn(error: Error | null): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { issues = [] } = error.data as { issues?: { path?: (string | number)[]; message: string }[] }
  return Object.fromEntries(
    issues.flatMap(({ path = [], message }) => {
      const [first, ...rest] = path
      const at = rest.length > 0 ? `${rest.join('.')}: ` : ''
      return typeof first === 'string' ? [[first, at + message]] : []
    }),
  )
}

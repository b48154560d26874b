import { useNavigate } from '@tanstack/react-router'
import type { ExtensionEntry } from '@trellis/contract'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { isApiError } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Form, FormActions } from '../../ui/Field.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
import { RunProblem } from './ProgramsProblem.tsx'
import { JsonInput, NOT_JSON } from './SchemaFields.tsx'
import { SchemaForm } from './SchemaForm.tsx'
import { initialValue, type JsonSchema, type Problems, problemFrom, problemsIn } from './schema-shape.ts'

interface DispatchFormProps {
  org: string
  name: string
  extension: ExtensionEntry
  /** Undefined for what is canonical. */
  ref_: string | undefined
  /** What stands in it at first; what the schema says when left out. */
  input?: unknown
}

type Way = 'form' | 'json'

/** Has an extension run, with an input that is written here. */
export function DispatchForm({ org, name, extension, ref_, input }: DispatchFormProps) {
  const schema = extension.inputSchema as JsonSchema | undefined
  const [value, setValue] = useState<unknown>(
    () => input ?? (schema ? initialValue(schema, schema, true) : {}),
  )
  const [way, setWay] = useState<Way>(schema ? 'form' : 'json')
  const [problems, setProblems] = useState<Problems>(new Map())
  const navigate = useNavigate()
  const run = useAction(
    (input: unknown) =>
      trellis(org).runs.dispatch({
        name,
        extension: extension.name,
        input: input ?? {},
        ...(ref_ && { ref: ref_ }),
      }),
    {
      changes: { org, paths: ['runs/list'] },
      onDone: ({ run: { id } }) =>
        void navigate({ to: '/o/$org/$repo/runs/$id', params: { org, repo: name, id } }),
    },
  )
  // What was wrong is not, once it is written anew.
  const change = (value: unknown) => {
    setValue(value)
    setProblems(new Map())
    run.forget()
  }
  const isReadable = !holds(value, NOT_JSON)
  const told = new Map([...problemsOf(run.error), ...problems])

  const submit = () => {
    if (!isReadable) return
    const found: Problems = schema && way === 'form' ? problemsIn(value, schema, schema) : new Map()
    setProblems(found)
    if (found.size === 0) run.run(value)
  }
  return (
    <Form onSubmit={submit} noValidate aria-label={`Run ${extension.name}`}>
      {schema && (
        <div>
          <Tabs<Way>
            label="How the input is written"
            value={way}
            options={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
            onChoose={(way) => isReadable && setWay(way)}
          />
        </div>
      )}
      {schema && way === 'form' ? (
        <SchemaForm root={schema} value={value} onChange={change} problems={told} />
      ) : (
        <JsonInput
          label="Input"
          hint="JSON, as the module is given it."
          value={value}
          onChange={change}
          problem={[...told].map(([at, problem]) => `${at || 'It'}: ${problem}`).join(' ') || undefined}
          rows={8}
        />
      )}
      <RunProblem of={run} />
      <FormActions>
        <Button kind="first" type="submit" icon="play" busy={run.busy} disabled={!isReadable}>
          Run
        </Button>
      </FormActions>
    </Form>
  )
}

/** What the server says of single fields. */
function problemsOf(error: Error | null): Problems {
  if (isApiError(error, 'RUN_REJECTED')) return problemFrom(String(error.data.reason))
  if (!isApiError(error, 'BAD_REQUEST')) return new Map()
  const issues = (error.data.issues ?? []) as { path?: (string | number)[]; message: string }[]
  return new Map(
    issues.map(({ path = [], message }) => [
      path
        .slice(1)
        .map((part) => `/${part}`)
        .join(''),
      `${message}.`,
    ]),
  )
}

function holds(value: unknown, wanted: symbol): boolean {
  if (value === wanted) return true
  return typeof value === 'object' && value !== null && Object.values(value).some((one) => holds(one, wanted))
}

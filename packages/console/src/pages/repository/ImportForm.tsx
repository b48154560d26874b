import { useNavigate } from '@tanstack/react-router'
import type { NumberedEvent } from '@trellis/contract'
import { useEffect, useRef, useState } from 'react'
import { tailPath, trellis } from '../../api/client.ts'
import { problemAt } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { useTail } from '../../api/tails.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Form, FormActions, TextField } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { type Place, PlaceFields } from './PlaceFields.tsx'
import { type Progress, ProgressBar } from './ProgressBar.tsx'

/** Brings a repository from elsewhere, and tells how far it has got. */
export function ImportForm(place: Place) {
  const { org } = place
  const [url, setUrl] = useState('')
  const [named, setNamed] = useState<string>()
  const [credentials, setCredentials] = useState<{ username: string; password: string }>()
  const [progress, setProgress] = useState<Progress>()
  const name = named ?? nameFrom(url)
  const navigate = useNavigate()
  const giveUp = useRef(new AbortController())
  // Whoever leaves does not wait any more.
  useEffect(() => () => giveUp.current.abort(), [])

  // From before it starts, so that nothing is missed.
  useTail(tailPath(org, 'events/tail'), ({ type, subject, payload }: NumberedEvent) => {
    if (type === 'repo.import.progress' && subject === name) setProgress(payload as Progress)
  })
  const bring = useAction(
    () => {
      giveUp.current = new AbortController()
      setProgress(undefined)
      return trellis(org).repos.import(
        { name, url: url.trim(), ...(credentials && { credentials }) },
        { signal: giveUp.current.signal },
      )
    },
    {
      done: ({ name }) => `Imported ${name}`,
      changes: { org, paths: ['repos/', 'events/'] },
      onDone: ({ name }) => void navigate({ to: '/o/$org/$repo', params: { org, repo: name } }),
    },
  )
  const isGivenUp = bring.error?.name === 'AbortError'
  return (
    <Form onSubmit={() => bring.run(undefined)}>
      <TextField
        label="Address"
        problem={problemAt(bring.error, 'url')}
        hint="An https address that git clones from."
        mono
        type="url"
        required
        placeholder="https://git.example/team/project.git"
        value={url}
        onChange={setUrl}
      />
      <PlaceFields {...place} name={name} problem={problemAt(bring.error, 'name')} onName={setNamed} />
      <Checkbox
        label="It asks for a password or token"
        hint="What you give is used for this import and kept nowhere."
        checked={credentials !== undefined}
        onChange={({ target }) => setCredentials(target.checked ? { username: '', password: '' } : undefined)}
      />
      {credentials && (
        <>
          <TextField
            label="User name there"
            value={credentials.username}
            onChange={(text) => setCredentials({ ...credentials, username: text })}
          />
          <TextField
            label="Password or token there"
            type="password"
            required
            value={credentials.password}
            onChange={(text) => setCredentials({ ...credentials, password: text })}
          />
        </>
      )}
      {bring.busy && <ProgressBar progress={progress} />}
      {!isGivenUp && <ActionProblem of={bring} besides={['url', 'name']} />}
      <FormActions>
        <Button kind="first" type="submit" busy={bring.busy}>
          {bring.busy ? 'Importing…' : 'Import repository'}
        </Button>
        {bring.busy && (
          <Button kind="quiet" onClick={() => giveUp.current.abort()}>
            Stop
          </Button>
        )}
      </FormActions>
    </Form>
  )
}

/** What it is called elsewhere, as far as it can be called so here. */
function nameFrom(url: string): string {
  const last = url.trim().replace(/\/+$/, '').split('/').slice(3).at(-1) ?? ''
  return last
    .replace(/\.git$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 64)
}

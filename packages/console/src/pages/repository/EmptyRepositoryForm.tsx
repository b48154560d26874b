import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { problemAt } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Form, FormActions, TextField } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { type Place, PlaceFields } from './PlaceFields.tsx'

export function EmptyRepositoryForm(place: Place) {
  const { org } = place
  const [name, setName] = useState('')
  const [defaultBranch, setDefaultBranch] = useState('main')
  const navigate = useNavigate()
  const create = useAction(() => trellis(org).repos.create({ name: name.trim(), defaultBranch }), {
    done: ({ name }) => `Created ${name}`,
    changes: { org, paths: ['repos/', 'events/'] },
    onDone: ({ name }) => void navigate({ to: '/o/$org/$repo', params: { org, repo: name } }),
  })
  return (
    <Form onSubmit={() => create.run(undefined)}>
      <PlaceFields {...place} name={name} problem={problemAt(create.error, 'name')} onName={setName} />
      <TextField
        label="Default branch"
        problem={problemAt(create.error, 'defaultBranch')}
        hint="The first push makes it."
        mono
        required
        value={defaultBranch}
        onChange={setDefaultBranch}
      />
      <ActionProblem of={create} besides={['name', 'defaultBranch']} />
      <FormActions>
        <Button kind="first" type="submit" busy={create.busy}>
          Create repository
        </Button>
      </FormActions>
    </Form>
  )
}

import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { problemAt } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Form, FormActions, TextField } from '../../ui/Field.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { NAME_HINT } from '../repository/PlaceFields.tsx'

/** An organization that has none: the first one is made right here. */
export const NoRepositories = ({ org }: { org: string }) => (
  <EmptyState title={`${org} has no repository yet`}>
    <p>Make one, then push to it. Files in it can become programs that run here.</p>
    <NewRepository org={org} />
    <p>
      Is it somewhere else already?{' '}
      <Link to="/new" search={{ org, way: 'import' }}>
        Import it
      </Link>
      .
    </p>
  </EmptyState>
)

function NewRepository({ org }: { org: string }) {
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const create = useAction((name: string) => trellis(org).repos.create({ name }), {
    changes: { org, paths: ['repos/', 'events/'] },
    onDone: ({ name }) => void navigate({ to: '/o/$org/$repo', params: { org, repo: name } }),
  })
  return (
    <Form onSubmit={() => create.run(name)}>
      <TextField
        label="Name"
        hint={NAME_HINT}
        problem={problemAt(create.error, 'name')}
        mono
        required
        maxLength={64}
        value={name}
        onChange={setName}
      />
      <ActionProblem of={create} besides={['name']} />
      <FormActions>
        <Button kind="first" type="submit" busy={create.busy}>
          Create repository
        </Button>
      </FormActions>
    </Form>
  )
}

import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { trellis } from '../../api/client.ts'
import { problemAt } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { Button } from '../../ui/Button.tsx'
import { Form, FormActions, TextField } from '../../ui/Field.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'

export function NewOrgPage() {
  const [slug, setSlug] = useState('')
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const create = useAction(
    () => trellis(undefined).orgs.create({ slug, ...(name.trim() && { name: name.trim() }) }),
    {
      changes: { org: undefined, paths: ['orgs/'] },
      onDone: ({ slug }) => void navigate({ to: '/o/$org', params: { org: slug } }),
    },
  )
  return (
    <Page title="New organization">
      <PageHeader
        title="New organization"
        about="Repositories and the people who share them. You will be its owner."
      />
      <Form onSubmit={() => create.run(undefined)}>
        <TextField
          label="Short name"
          problem={problemAt(create.error, 'slug')}
          hint={`In addresses: ${location.origin}/${slug || 'acme'}. Lowercase letters, digits and dashes.`}
          mono
          required
          maxLength={64}
          value={slug}
          onChange={setSlug}
        />
        <TextField
          label="Name"
          problem={problemAt(create.error, 'name')}
          hint="As people read it. The short name when left out."
          maxLength={100}
          value={name}
          onChange={setName}
        />
        <ActionProblem of={create} besides={['slug', 'name']} />
        <FormActions>
          <Button kind="first" type="submit" busy={create.busy}>
            Create organization
          </Button>
        </FormActions>
      </Form>
    </Page>
  )
}

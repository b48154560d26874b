import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { problemAt } from '../../api/errors.ts'
import { useAction } from '../../api/queries.ts'
import { organizationsQuery } from '../../api/session.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Form, FormActions } from '../../ui/Field.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { PlaceFields } from './PlaceFields.tsx'

/** The same history under another name, or in another organization. */
export function ForkPage() {
  const { org, name, api } = useRepo()
  const { data } = useSuspenseQuery(organizationsQuery)
  const orgs = data.items.map(({ slug }) => slug)
  const [toOrg, setToOrg] = useState(orgs.find((slug) => slug !== org) ?? org)
  const [named, setNamed] = useState<string>()
  // In the same organization the name is taken.
  const newName = named ?? (toOrg === org ? `${name}-fork` : name)
  const navigate = useNavigate()
  const fork = useAction(() => api.repos.fork({ name, newName: newName.trim(), toOrg }), {
    done: ({ name }) => `Forked into ${toOrg}/${name}`,
    changes: { org: toOrg, paths: ['repos/', 'events/'] },
    onDone: ({ name }) => void navigate({ to: '/o/$org/$repo', params: { org: toOrg, repo: name } }),
  })
  return (
    <Page title={`Fork · ${org}/${name}`}>
      <PageHeader
        title={`Fork ${name}`}
        about="A repository of its own with the same branches, tags and history. What happens in one later does not happen in the other."
      />
      <Form onSubmit={() => fork.run(undefined)}>
        <PlaceFields
          org={toOrg}
          orgs={orgs}
          onOrg={setToOrg}
          name={newName}
          problem={problemAt(fork.error, 'newName')}
          onName={setNamed}
        />
        <ActionProblem of={fork} besides={['newName']} />
        <FormActions>
          <Button kind="first" type="submit" busy={fork.busy}>
            Fork repository
          </Button>
        </FormActions>
      </Form>
    </Page>
  )
}

import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { problemAt } from '../../api/errors.ts'
import { queryClient, useAction } from '../../api/queries.ts'
import { organizationsQuery, selfQuery } from '../../api/session.ts'
import { orgQuery, useOrg } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Form, FormActions, TextField } from '../../ui/Field.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { DeleteOrg } from './DeleteOrg.tsx'
import { OrgLimits } from './OrgLimits.tsx'
import styles from './People.module.css'

export function OrgSettingsPage() {
  const { org, organization } = useOrg()
  const isOwner = organization.role === 'owner'
  return (
    <Page title={`Settings · ${organization.name}`}>
      <PageHeader
        title="Settings"
        about={organization.role === 'member' ? 'Its admins and owners can change what is here.' : undefined}
      />
      {organization.role !== 'member' && <Rename key={`name-${org}`} />}
      {isOwner && <Readdress key={`slug-${org}`} />}
      <OrgLimits />
      {isOwner && (
        <Section title="Danger zone">
          <Freeze />
          <DeleteOrg />
        </Section>
      )}
    </Page>
  )
}

/** Changes something of the organization, and has everything that shows it know. */
function useUpdate(done: string, onDone?: (slug: string) => void) {
  const { org, api } = useOrg()
  return useAction(
    (changes: { name?: string; slug?: string; frozen?: boolean }) =>
      api.orgs.update({ orgSlug: org, ...changes }),
    {
      done,
      changes: { org, paths: ['orgs/', 'repos/', 'events/'] },
      onDone: (updated) => {
        queryClient.setQueryData(orgQuery(updated.slug).queryKey, updated)
        void queryClient.invalidateQueries(organizationsQuery)
        void queryClient.invalidateQueries(selfQuery())
        onDone?.(updated.slug)
      },
    },
  )
}

function Rename() {
  const { organization } = useOrg()
  const [name, setName] = useState(organization.name)
  const rename = useUpdate('The name is changed')
  return (
    <Form onSubmit={() => rename.run({ name })}>
      <TextField
        label="Name"
        hint="As people read it."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <ActionProblem of={rename} />
      <FormActions>
        <Button type="submit" busy={rename.busy} disabled={name === organization.name}>
          Change the name
        </Button>
      </FormActions>
    </Form>
  )
}

function Readdress() {
  const { org } = useOrg()
  const navigate = useNavigate()
  const [slug, setSlug] = useState(org)
  const change = useUpdate('The short name is changed', (slug) => {
    void navigate({ to: '/o/$org/~/settings', params: { org: slug }, replace: true })
  })
  return (
    <Form onSubmit={() => change.run({ slug })}>
      <TextField
        label="Short name"
        problem={problemAt(change.error, 'slug')}
        hint="In every address, also those that git clones from. What asks for the old one is led to the new one, until somebody takes the old one for something else."
        mono
        required
        maxLength={64}
        value={slug}
        onChange={setSlug}
      />
      <ActionProblem of={change} besides={['slug']} />
      <FormActions>
        <Button type="submit" busy={change.busy} disabled={slug === org}>
          Change the short name
        </Button>
      </FormActions>
    </Form>
  )
}

function Freeze() {
  const { organization } = useOrg()
  const { frozen } = organization
  const change = useUpdate(frozen ? 'The organization is thawed' : 'The organization is frozen')
  return (
    <div className={styles.danger}>
      <div>
        <p>{frozen ? 'This organization is frozen' : 'Freeze this organization'}</p>
        <p>While it is frozen nobody pushes, and nothing in it can be written. Everything can be read.</p>
        <ActionProblem of={change} />
      </div>
      <Button kind="danger" busy={change.busy} onClick={() => change.run({ frozen: !frozen })}>
        {frozen ? 'Thaw' : 'Freeze'}
      </Button>
    </div>
  )
}

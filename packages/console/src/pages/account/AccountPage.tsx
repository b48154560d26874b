import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryClient, useAction } from '../../api/queries.ts'
import { personQuery, updatePerson } from '../../api/session.ts'
import { chooseTheme, THEMES, useTheme } from '../../shell/theme.ts'
import { Button } from '../../ui/Button.tsx'
import { Field, Form, FormActions, Input, TextField } from '../../ui/Field.tsx'
import { Page, PageHeader, Section } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { Tabs } from '../../ui/Tabs.tsx'
import { OwnInvitations } from './OwnInvitations.tsx'

/** Who one is here. */
export function AccountPage() {
  const { data: person } = useSuspenseQuery(personQuery)
  const theme = useTheme()
  const [name, setName] = useState(person?.name ?? '')
  const rename = useAction((name: string) => updatePerson({ name }), {
    done: 'Your name is changed',
    onDone: () => void queryClient.invalidateQueries(personQuery),
  })
  return (
    <Page title="Your account">
      <PageHeader title="Profile" about="Others see your name and address in the organizations you share." />
      <Form onSubmit={() => rename.run(name)}>
        <TextField
          label="Name"
          hint="In lists of people, and on commits that are made here."
          required
          maxLength={200}
          autoComplete="name"
          value={name}
          onChange={setName}
        />
        <Field
          label="Address"
          hint={
            <>
              You sign in with it; invitations and agents name you by it.{' '}
              <a href="/account/security">Change the address</a>
            </>
          }
        >
          {(control) => <Input {...control} readOnly value={person?.email ?? ''} />}
        </Field>
        <ActionProblem of={rename} />
        <FormActions>
          <Button
            kind="first"
            type="submit"
            busy={rename.busy}
            disabled={name.trim() === '' || name === person?.name}
          >
            Save
          </Button>
        </FormActions>
      </Form>
      <Section title="Theme">
        <div>
          <Tabs label="Theme" value={theme} options={THEMES} onChoose={chooseTheme} />
        </div>
      </Section>
      <OwnInvitations />
    </Page>
  )
}

import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { problemAt } from '../../api/errors.ts'
import { forgetUnseen, useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { Checkbox, Field, Form, Input } from '../../ui/Field.tsx'
import { Section } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { RefInput } from '../changes/RefInput.tsx'
import { NAME_HINT } from './PlaceFields.tsx'
import styles from './Repository.module.css'

export function GeneralSettings() {
  return (
    <Section title="General">
      <Rename />
      <DefaultBranch />
      <ReadOnly />
    </Section>
  )
}

function Rename() {
  const { org, name, api } = useRepo()
  const [newName, setNewName] = useState(name)
  const navigate = useNavigate()
  const rename = useAction(() => api.repos.update({ name, newName: newName.trim() }), {
    done: ({ name }) => `Renamed to ${name}`,
    onDone: async ({ name }) => {
      await navigate({ to: '/o/$org/$repo/settings', params: { org, repo: name }, replace: true })
      forgetUnseen(org)
    },
  })
  return (
    <Form onSubmit={() => rename.run(undefined)}>
      <Field
        label="Name"
        problem={problemAt(rename.error, 'newName')}
        hint={`${NAME_HINT} Clones and links that use the old name are led to the new one, until another repository takes it.`}
      >
        {(control) => (
          <span className={styles.line}>
            <Input
              {...control}
              mono
              required
              maxLength={64}
              value={newName}
              onChange={({ target }) => setNewName(target.value)}
            />
            <Button type="submit" busy={rename.busy} disabled={newName.trim() === name}>
              Rename
            </Button>
          </span>
        )}
      </Field>
      <ActionProblem of={rename} besides={['newName']} />
    </Form>
  )
}

function DefaultBranch() {
  const { org, name, repo, api } = useRepo()
  const [branch, setBranch] = useState(repo.defaultBranch)
  const change = useAction(() => api.repos.update({ name, defaultBranch: branch.trim() }), {
    done: ({ defaultBranch }) => `The default branch is ${defaultBranch}`,
    changes: { org, paths: ['repos/', 'git/', 'events/'] },
  })
  return (
    <Form onSubmit={() => change.run(undefined)}>
      <Field
        label="Default branch"
        hint="What clones check out and pages show at first, and what others are held against."
      >
        {(control) => (
          <span className={styles.line}>
            <RefInput {...control} branchesOnly value={branch} onChange={setBranch} />
            <Button type="submit" busy={change.busy} disabled={branch.trim() === repo.defaultBranch}>
              Change
            </Button>
          </span>
        )}
      </Field>
      <ActionProblem of={change} />
    </Form>
  )
}

function ReadOnly() {
  const { org, name, repo, api } = useRepo()
  const change = useAction((readOnly: boolean) => api.repos.update({ name, readOnly }), {
    done: ({ readOnly }) => (readOnly ? `${name} is read-only` : `${name} can be pushed to`),
    changes: { org, paths: ['repos/', 'events/'] },
  })
  return (
    <>
      <Checkbox
        label="Read-only"
        hint="Nobody can push while it is, neither people nor agents."
        checked={repo.readOnly}
        disabled={change.busy}
        onChange={({ target }) => change.run(target.checked)}
      />
      <ActionProblem of={change} />
    </>
  )
}

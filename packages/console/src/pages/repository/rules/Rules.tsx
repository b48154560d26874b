import { useSuspenseQuery } from '@tanstack/react-query'
import type { RefRule } from '@trellis/contract'
import { useState } from 'react'
import { query, useAction } from '../../../api/queries.ts'
import { useRepo } from '../../../shell/places.ts'
import { Button } from '../../../ui/Button.tsx'
import { Section } from '../../../ui/Page.tsx'
import { ActionProblem } from '../../../ui/Problem.tsx'
import { Table } from '../../../ui/Table.tsx'
import styles from '../Repository.module.css'
import { RuleDialog } from './RuleDialog.tsx'
import { patternWords, refusalWords } from './words.ts'

/** Which changes of branches and tags are refused, and to whom not. */
export function Rules() {
  const { org, name, api } = useRepo()
  const { data } = useSuspenseQuery(query(org, (api) => api.rules.list, { name }))
  const [edited, setEdited] = useState<RefRule | 'new'>()
  const remove = useAction((pattern: string) => api.rules.delete({ name, pattern }), {
    done: 'Rule removed',
    changes: { org, paths: ['rules/', 'events/'] },
  })
  return (
    <Section
      title="Rules for branches and tags"
      actions={
        <Button icon="plus" small onClick={() => setEdited('new')}>
          New rule
        </Button>
      }
    >
      {data.items.length === 0 ? (
        <p className={styles.dim}>There are none: whoever can write can do everything.</p>
      ) : (
        <Table
          label="Rules"
          columns={['For', { head: 'Refused', kind: 'wide' }, { head: 'Actions', kind: 'heard' }]}
        >
          {data.items.map((rule) => (
            <tr key={rule.pattern}>
              <td className={styles.pattern}>
                <code>{rule.pattern}</code>
                <span className={styles.note}>{patternWords(rule.pattern)}</span>
              </td>
              <td>
                <ul className={styles.refused}>
                  {refusalWords(rule.refuse).map((words) => (
                    <li key={words}>{words}</li>
                  ))}
                </ul>
              </td>
              <td>
                <span className={styles.actions}>
                  <Button
                    small
                    aria-label={`Edit the rule for ${rule.pattern}`}
                    onClick={() => setEdited(rule)}
                  >
                    Edit
                  </Button>
                  <Button
                    kind="danger"
                    small
                    busy={remove.busy}
                    aria-label={`Remove the rule for ${rule.pattern}`}
                    onClick={() => remove.run(rule.pattern)}
                  >
                    Remove
                  </Button>
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <ActionProblem of={remove} />
      {edited && (
        <RuleDialog rule={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Section>
  )
}

import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { RecordCollection, RecordRow } from '@trellis/contract'
import { useState } from 'react'
import { query, useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Fact, FramedFacts } from '../../ui/Facts.tsx'
import { FormActions } from '../../ui/Field.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { ActionProblem } from '../../ui/Problem.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import { toast } from '../../ui/Toast.tsx'
import { ConflictDialog } from './ConflictDialog.tsx'
import { NoSuchRecord } from './NoSuchRecord.tsx'
import { keepRow, useCollection } from './queries.ts'
import styles from './Records.module.css'
import { RowForm } from './RowForm.tsx'
import { useSaveRow } from './saving.ts'
import { fieldsOf, titleOf } from './schema.ts'

/** One row: all of it, to read and to change. */
export function RowPage() {
  const { org, name } = useRepo()
  const { record = '', id = '' } = useParams({ strict: false })
  const collection = useCollection(org, name, record)
  return collection ? <Row key={id} collection={collection} id={id} /> : <NoSuchRecord record={record} />
}

function Row({ collection: { schema }, id }: { collection: RecordCollection; id: string }) {
  const { org, name, repo } = useRepo()
  const record = schema.name
  const { data: row } = useSuspenseQuery(query(org, (api) => api.records.get, { name, record, id }))
  // What is being written on stays as it was seen, also when the row is another by then.
  const [seen, setSeen] = useState(row)
  const { save, conflict, dismiss } = useSaveRow(org, { name, record }, (saved) => {
    setSeen(saved)
    toast('Saved')
  })
  const isOld = row.revision > seen.revision && !conflict && !save.busy
  const title = titleOf(schema, row)
  return (
    <Page title={`${title} · ${record} · ${org}/${name}`}>
      <PageHeader
        title={title}
        about={
          <Link to="/o/$org/$repo/records/$record" params={{ org, repo: name, record }}>
            All rows of {record}
          </Link>
        }
      >
        {repo.canWrite && <DeleteRow record={record} row={row} />}
      </PageHeader>
      {isOld && (
        <Notice>
          This row was changed <TimeAgo at={row.updatedAt} />.
          <Button small onClick={() => setSeen(row)}>
            Show it as it is now
          </Button>
        </Notice>
      )}
      <div className={styles.columns}>
        <RowForm
          key={seen.revision}
          schema={schema}
          data={seen.data}
          act="Save"
          action={save}
          readOnly={!repo.canWrite}
          onSave={(data) => save.run({ row: seen, data })}
        />
        <RowFacts row={row} />
      </div>
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          fields={fieldsOf(schema)}
          action={save}
          onSave={(row, data) => save.run({ row, data })}
          onTakeTheirs={(theirs) => {
            setSeen(theirs)
            dismiss()
          }}
          onClose={dismiss}
        />
      )}
    </Page>
  )
}

const RowFacts = ({ row }: { row: RecordRow }) => (
  <FramedFacts>
    <Fact name="Id">
      <code>{row.id}</code> <CopyButton text={row.id} bare label="Copy the id" />
    </Fact>
    <Fact name="Revision">{row.revision}</Fact>
    <Fact name="Made">
      <TimeAgo at={row.createdAt} />
    </Fact>
    <Fact name="Changed">
      <TimeAgo at={row.updatedAt} />
    </Fact>
  </FramedFacts>
)

function DeleteRow({ record, row }: { record: string; row: RecordRow }) {
  const { org, name, api } = useRepo()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const { id, revision } = row
  const remove = useAction(() => api.records.delete({ name, record, id, revision }), {
    done: 'Row deleted',
    onDone: () => {
      keepRow(org, { name, record }, id, undefined)
      void navigate({ to: '/o/$org/$repo/records/$record', params: { org, repo: name, record } })
    },
  })
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Delete this row?"
        about="It cannot be brought back. Refs of other rows to it stay as they are, and lead nowhere."
      >
        <ActionProblem of={remove} />
        <FormActions>
          <Button kind="danger" busy={remove.busy} onClick={() => remove.run(undefined)}>
            Delete the row
          </Button>
          <Button kind="quiet" onClick={() => setOpen(false)}>
            Keep it
          </Button>
        </FormActions>
      </Dialog>
    </>
  )
}

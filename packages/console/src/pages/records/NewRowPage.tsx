import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { RecordSchema } from '@trellis/contract'
import { useAction } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Page, PageHeader } from '../../ui/Page.tsx'
import { NoSuchRecord } from './NoSuchRecord.tsx'
import { useCollection } from './queries.ts'
import { RowForm } from './RowForm.tsx'
import type { Data } from './saving.ts'

export function NewRowPage() {
  const { org, name } = useRepo()
  const { record = '' } = useParams({ strict: false })
  const collection = useCollection(org, name, record)
  return collection ? <NewRow schema={collection.schema} /> : <NoSuchRecord record={record} />
}

function NewRow({ schema }: { schema: RecordSchema }) {
  const { org, name, api } = useRepo()
  const record = schema.name
  const navigate = useNavigate()
  const create = useAction((data: Data) => api.records.create({ name, record, data }), {
    done: 'Row added',
    changes: { org, paths: ['records/'] },
    onDone: ({ id }) =>
      void navigate({ to: '/o/$org/$repo/records/$record/$id', params: { org, repo: name, record, id } }),
  })
  return (
    <Page title={`New ${record} · ${org}/${name}`}>
      <PageHeader
        title={`New ${record}`}
        about={
          <Link to="/o/$org/$repo/records/$record" params={{ org, repo: name, record }}>
            All rows of {record}
          </Link>
        }
      />
      <RowForm schema={schema} data={{}} act={`Add ${record}`} action={create} onSave={create.run} isNew />
    </Page>
  )
}

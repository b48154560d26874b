import type { Teller } from './teller.ts'

const DESCRIPTOR = {
  version: 1,
  name: 'tasks',
  capabilities: ['repo:read'],
  record: {
    name: 'task',
    fields: {
      title: { type: 'string', required: true, unique: true },
      status: { type: 'enum', values: ['open', 'done'], default: 'open' },
    },
    indexes: ['status'],
  },
}
/** Versions that know extensions read this, and the first of them do nothing with it. */
const WEBHOOK = { url: 'https://example.com/', on: { event: { types: ['nothing.of.the.kind'] } } }

/** An extension in force, and rows of the record it declares: in ann's own organization, as rows take a lot of room. */
export async function tellOfExtensions({ ok, told }: Teller): Promise<void> {
  const name = 'tools'
  const ann = { token: told.credentials.ann, org: 'ann' }
  await ok('repos/create', { name }, ann)
  const files = {
    'extensions/tasks/extension.json': JSON.stringify(DESCRIPTOR),
    'extensions/tasks/index.ts': 'export default (input: unknown) => input\n',
    'webhooks/ci/webhook.json': JSON.stringify(WEBHOOK),
  }
  const changes = Object.entries(files).map(([path, content]) => ({ op: 'put', path, content }))
  await ok('git/commits/create', { name, branch: 'main', message: 'Keep tasks', changes }, ann)
  await ok('extensions/promote', { name }, ann)
  const record = 'task'
  const { id, revision } = await ok('records/create', { name, record, data: { title: 'Größe' } }, ann)
  await ok('records/update', { name, record, id, revision, data: { status: 'done' } }, ann)
  await ok('records/create', { name, record, data: { title: 'later' } }, ann)
}

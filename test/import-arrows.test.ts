import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, it } from 'node:test'

const SERVER = 'packages/server/src'

interface Import {
  from: string
  to: string
  /** Erased before the program runs, so it makes no dependency at run time. */
  typeOnly: boolean
}

const imports = await readImports()
const folderOf = (file: string) => (file.includes('/') ? file.split('/')[0] : '')
const domains = [
  'access',
  'orgs',
  'people',
  'keys',
  'tokens',
  'repos',
  'code',
  'agents',
  'anonymous',
  'invites',
  'events',
  'webhooks',
]

function refuse(title: string, isWrong: (edge: Import) => boolean): void {
  it(title, () => {
    const wrong = imports.filter(isWrong).map(({ from, to }) => `${from} imports ${to}`)
    assert.deepEqual(wrong, [])
  })
}

describe('import arrows in the server', () => {
  it('reads the imports of the whole server', () => {
    assert.ok(imports.some(({ from, to }) => from === 'main.ts' && to === 'app.ts'))
    assert.ok(imports.some(({ from, to }) => from === 'repos/service.ts' && to === 'repos/store.ts'))
  })

  for (const leaf of ['db', 'git'])
    refuse(
      `${leaf} is a leaf: it imports nothing of the server but itself`,
      ({ from, to }) => folderOf(from) === leaf && folderOf(to) !== leaf,
    )

  const gitRooms = ['names.ts', 'process', 'protocol', 'objects', 'packs', 'clones']
  const roomOf = (file: string) => gitRooms.indexOf(file.split('/')[1] ?? '')
  refuse(
    `a room of git imports itself and those before it: ${gitRooms.join(', ')}`,
    ({ from, to }) => folderOf(from) === 'git' && folderOf(to) === 'git' && roomOf(to) > roomOf(from),
  )

  refuse(
    'everything is put together at the top: app, services and doors, and only main starts it',
    ({ from, to, typeOnly }) => {
      const importers: Record<string, string[]> = {
        'main.ts': [],
        'app.ts': ['main.ts'],
        'doors/open-doors.ts': ['app.ts'],
      }
      if (to === 'services.ts') return from !== 'app.ts' && !(from === 'doors/open-doors.ts' && typeOnly)
      return importers[to]?.includes(from) === false
    },
  )

  refuse(
    'a store is imported by its own domain only',
    ({ from, to, typeOnly }) =>
      /(^|\/)store\.ts$/.test(to) && folderOf(from) !== folderOf(to) && !(from === 'schema.ts' && typeOnly),
  )

  refuse(
    'a store holds SQL: it imports no service and no handler',
    ({ from, to }) => from.endsWith('/store.ts') && /(service|handlers)\.ts$/.test(to),
  )

  refuse(
    'domains know no doors',
    ({ from, to }) => domains.includes(folderOf(from) ?? '') && folderOf(to) === 'doors',
  )

  refuse(
    'handlers are put together in one place',
    ({ from, to }) => to.endsWith('/handlers.ts') && from !== 'doors/open-doors.ts',
  )
})

describe('import arrows between packages', () => {
  it('the contract imports nothing of the other packages', async () => {
    for await (const file of glob('packages/contract/src/**/*.ts')) {
      const source = await readFile(file, 'utf8')
      assert.doesNotMatch(source, /from '(@trellis\/(?!contract)|.*packages\/server)/, file)
    }
  })
})

async function readImports(): Promise<Import[]> {
  const found: Import[] = []
  for await (const file of glob(`${SERVER}/**/*.ts`)) {
    const from = relative(SERVER, file)
    if (from.endsWith('.test.ts') || from.startsWith('testing/')) continue
    const source = await readFile(file, 'utf8')
    for (const [, kind = '', path = ''] of source.matchAll(
      /^(?:import|export) (type )?[^;']*?from '(\.[^']+)'/gms,
    ))
      found.push({ from, to: normalize(join(dirname(from), path)), typeOnly: kind !== '' })
  }
  return found
}

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
const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '')
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

/** What doors and domains speak of together: callers, and the errors of protocols that are not ours. */
const isVocabulary = (file: string) =>
  ['access/', 'agents/grants.ts', 'agents/registrations.ts'].some((start) => file.startsWith(start))

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
      `${leaf} is a leaf: it imports nothing of the server but itself and the platform`,
      ({ from, to }) => folderOf(from) === leaf && ![leaf, 'platform'].includes(folderOf(to)),
    )

  const foundations = ['platform', 'secrets', 'background', 'operations']
  refuse(
    'what every domain stands on imports no domain and no door',
    ({ from, to, typeOnly }) =>
      foundations.includes(folderOf(from)) &&
      !foundations.includes(folderOf(to)) &&
      // Of the database and of callers they know the types.
      !(typeOnly && ['schema.ts', 'access/caller.ts'].includes(to)),
  )

  refuse(
    'everything is put together at the top: only main starts the app, only the app makes the rest',
    (edge) => {
      const importers: Record<string, string[]> = {
        'main.ts': [],
        'app.ts': ['main.ts'],
        'modules.ts': ['app.ts'],
        'doors/doors.ts': ['app.ts'],
      }
      return importers[edge.to]?.includes(edge.from) === false && !edge.typeOnly
    },
  )

  refuse(
    'a store is imported by its own domain only',
    ({ from, to, typeOnly }) =>
      /(^|\/)([a-z]+-)?store\.ts$/.test(to) &&
      folderOf(to) !== 'git' &&
      folderOf(from) !== folderOf(to) &&
      !(from === 'schema.ts' && typeOnly),
  )

  refuse(
    'a store holds SQL: it imports no service and no handler',
    ({ from, to }) => from.endsWith('store.ts') && /(service|handlers)\.ts$/.test(to),
  )

  refuse(
    'domains know no doors, and doors no domain but through what they are handed',
    ({ from, to, typeOnly }) =>
      (domains.includes(folderOf(from)) && folderOf(to) === 'doors') ||
      (folderOf(from) === 'doors' && domains.includes(folderOf(to)) && !typeOnly && !isVocabulary(to)),
  )

  refuse(
    "a domain's handlers are put together by its module, and modules in one place",
    ({ from, to }) =>
      (/^[a-z]+\/handlers\.ts$/.test(to) &&
        domains.includes(folderOf(to)) &&
        from !== `${folderOf(to)}/module.ts`) ||
      (to.endsWith('/module.ts') && from !== 'modules.ts'),
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

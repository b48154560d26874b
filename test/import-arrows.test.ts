import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
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

const imports = readImports()
const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : '')
/** Every folder that brings a module, and what all of them speak of. */
const domains = [...globSync('*/module.ts', { cwd: SERVER }).map((path) => dirname(path))]

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

  for (const leaf of ['db', 'git', 'runtime'])
    refuse(
      `${leaf} is a leaf: it imports nothing of the server but itself and the platform`,
      ({ from, to }) => folderOf(from) === leaf && ![leaf, 'platform'].includes(folderOf(to)),
    )

  const gitRooms = ['names.ts', 'process', 'protocol', 'objects', 'packs', 'clones']
  const roomOf = (file: string) => gitRooms.indexOf(file.split('/')[1] ?? '')
  refuse(
    `a room of git imports itself and those before it: ${gitRooms.join(', ')}`,
    ({ from, to }) => folderOf(from) === 'git' && folderOf(to) === 'git' && roomOf(to) > roomOf(from),
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
        'modules.ts': ['app.ts', 'admin/people-and-orgs.ts'],
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

describe('SQL', () => {
  /** Where a look at another domain's table saves every caller a second query. Each is a join, and none writes. */
  const LOOKS = [
    'access/credentials.ts agent_registrations',
    'access/credentials.ts agent_tokens',
    'access/credentials.ts anonymous_callers',
    'access/credentials.ts api_keys',
    'access/credentials.ts members',
    'access/credentials.ts orgs',
    'access/credentials.ts repo_tokens',
    'access/credentials.ts repos',
    'access/credentials.ts sessions',
    'access/credentials.ts users',
    'agents/store.ts members',
    'agents/store.ts orgs',
    'agents/store.ts users',
    'code/health-store.ts repos',
    'invites/store.ts orgs',
    'invites/store.ts repos',
    'orgs/store.ts users',
    'repos/store.ts orgs',
    'runs/cancel-store.ts events',
    'runs/cancel-store.ts members',
    'runs/kept-store.ts orgs',
    'runs/trigger-store.ts orgs',
    'runs/trigger-store.ts repos',
    'tokens/store.ts repos',
    'webhooks/store.ts orgs',
    'webhooks/store.ts repos',
  ]

  it("is about a domain's own tables, but for looks that are listed, and never writes to another's", async () => {
    const { owners, queries } = await readQueries()
    assert.ok(queries.length > 100 && owners.size > 20)
    const foreign = queries.filter(({ file, table }) => owners.get(table) !== folderOf(file))
    assert.deepEqual([...new Set(foreign.map(({ file, table }) => `${file} ${table}`))].toSorted(), LOOKS)
    assert.deepEqual(
      foreign.filter(({ verb }) => !/^(selectFrom|innerJoin|leftJoin)$/.test(verb)),
      [],
    )
  })
})

describe('import arrows between packages', () => {
  it('the contract imports nothing of the other packages', async () => {
    for await (const file of glob('packages/contract/src/**/*.ts')) {
      const source = await readFile(file, 'utf8')
      assert.doesNotMatch(source, /from '(@trellis\/(?!contract)|.*packages\/server)/, file)
    }
  })
})

/** Every query of the server, and who owns its table. A table belongs to the folder that declares its type. */
async function readQueries() {
  const owners = new Map<string, string>()
  const queries: { file: string; verb: string; table: string }[] = []
  for await (const path of glob(`${SERVER}/**/*.ts`)) {
    const file = relative(SERVER, path)
    if (/\.test\.ts$|^testing\/|\/migrations\//.test(file)) continue
    const source = await readFile(path, 'utf8')
    for (const [, tables = ''] of source.matchAll(/^export interface \w+Tables \{\n(.*?)\n\}/gms))
      for (const [, table = ''] of tables.matchAll(/^ {2}(\w+):/gm)) owners.set(table, folderOf(file))
    for (const [, verb = '', table = ''] of source.matchAll(
      /\b(selectFrom|innerJoin|leftJoin|insertInto|updateTable|deleteFrom|preparedInsert<Schema, )\(?\s*'(\w+)/g,
    ))
      queries.push({ file, verb, table })
  }
  return { owners, queries }
}

function readImports(): Import[] {
  const found: Import[] = []
  for (const file of globSync(`${SERVER}/**/*.ts`)) {
    const from = relative(SERVER, file)
    if (from.endsWith('.test.ts') || from.startsWith('testing/')) continue
    const source = readFileSync(file, 'utf8')
    for (const [, kind = '', path = ''] of source.matchAll(
      /^(?:import|export) (type )?[^;']*?from '(\.[^']+)'/gms,
    ))
      found.push({ from, to: normalize(join(dirname(from), path)), typeOnly: kind !== '' })
    for (const [, path = ''] of source.matchAll(/\bimport\('(\.[^']+)'\)/g))
      found.push({ from, to: normalize(join(dirname(from), path)), typeOnly: false })
  }
  return found
}

/** Values that only tests import, because they are what the test is about. */
const TESTED_ALONE = [
  'db/open-transactions.ts NestedTransaction',
  'doors/entry/client-address.ts addressKey',
  'doors/pages/login.ts localPath',
  'extensions/descriptor-docs.ts DESCRIPTORS_PAGE',
  'extensions/descriptor-docs.ts descriptorsPage',
  'extensions/schema-files.ts schemaFiles',
  'git/objects/format.ts cleanMessage',
  'operations/implement.ts allOperations',
  'platform/config-docs.ts CONFIGURATION_PAGE',
  'platform/config-docs.ts configurationPage',
  'platform/log.ts redact',
]

describe('exports of the server', () => {
  it('are imported by another file; by nothing but tests only if they are types, or in testing/', async () => {
    const exported: { name: string; mayServeTests: boolean }[] = []
    const imported = { byCode: new Set(TESTED_ALONE), byTests: new Set<string>() }
    for await (const path of glob('{packages/server/src,test,bench}/**/*.ts')) {
      const file = relative(SERVER, path)
      const source = await readFile(path, 'utf8')
      const isTest = /^test\/|\/testing\/|\.test\.ts$/.test(path)
      for (const [, list = '', namespace, from = ''] of source.matchAll(
        /^(?:import (?:type )?| *const )(?:\{([^}]*)\}|\* as (\w+)) (?:from |= await import\()'(\.[^']+|@trellis\/server\/testing)'/gms,
      )) {
        const to = from.startsWith('.') ? relative(SERVER, join(dirname(path), from)) : 'testing/'
        const names = namespace
          ? source.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)`, 'g')).map(([, name]) => name)
          : list.split(',').map((part) => /^\s*(?:type )?(\w+)/.exec(part)?.[1])
        for (const name of names) imported[isTest ? 'byTests' : 'byCode'].add(keyOf(to, name))
      }
      if (file.startsWith('..') || file.endsWith('.test.ts')) continue
      for (const [, kind = '', name] of source.matchAll(/^export (?:async )?(\w+)\*? (\w+)/gm))
        exported.push({
          name: keyOf(file, name),
          mayServeTests: /^(type|interface)$/.test(kind) || file.startsWith('testing/'),
        })
    }
    const idle = exported.filter(
      ({ name, mayServeTests }) =>
        !imported.byCode.has(name) && !(mayServeTests && imported.byTests.has(name)),
    )
    assert.deepEqual(
      idle.map(({ name }) => name),
      [],
    )
  })

  /** What is in testing/ is imported through its index. */
  const keyOf = (file: string, name = '') => `${file.startsWith('testing/') ? 'testing' : file} ${name}`
})

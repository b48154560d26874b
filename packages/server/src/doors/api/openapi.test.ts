import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { errors, type OperationMeta, streams } from '@trellis/contract'
import * as z from 'zod'
import { allOperations } from '../../operations/implement.ts'
import { createSqlite, useApp } from '../../testing/index.ts'
import type { Json } from '../../testing/json.ts'

describe('the published document', () => {
  const app = useApp(createSqlite)
  let document: Json

  before(async () => {
    document = await (await fetch(`${app.url}/openapi.json`)).json()
  })

  const follow = (one: Json): Json =>
    one?.$ref
      ? one.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, key: string) => at?.[key], document)
      : one
  const shared = (name: string): Json => document.components.schemas[name]
  const operationAt = (path: string): Json => document.paths[path].post
  const input = (path: string): Json =>
    follow(operationAt(path).requestBody.content['application/json'].schema)
  /** What is asked of a field, without what is said about it. */
  const field = (path: string, name: string): Json => {
    const { description: _, examples: __, ...rules } = follow(input(path).properties[name])
    return rules
  }

  it('is OpenAPI 3.1, and valid', async () => {
    assert.match(document.openapi, /^3\.1\.\d+$/)
    const { valid, errors: problems } = await new Validator().validate(structuredClone(document))
    assert.deepEqual(problems ?? [], [])
    assert.ok(valid)
  })

  it('has an operation for each of the contract, with the errors it declares', () => {
    assert.equal(document.info.version, '0.7.0')
    assert.deepEqual(document.servers, [{ url: `${app.url}/api/v1` }])
    const { type, scheme } = document.components.securitySchemes.bearer
    assert.deepEqual([type, scheme], ['http', 'bearer'])
    const operations = allOperations()
    const beside = Object.values(streams).map((stream) => stream['~orpc'].route.path ?? '')
    assert.deepEqual(
      Object.keys(document.paths).toSorted(),
      [...operations.map(({ path }) => path), ...beside].toSorted(),
    )
    const ids = new Set<string>()
    for (const { path, procedure } of operations) {
      assert.deepEqual(Object.keys(document.paths[path]), ['post'], path)
      const operation = operationAt(path)
      ids.add(operation.operationId)
      assert.ok(operation.summary, path)
      assert.ok(operation.responses['200'].content['application/json'].schema, path)
      const described = new Map<string, { status: string; message: unknown }>()
      for (const [status, response] of Object.entries<Json>(operation.responses)) {
        assert.ok(follow(response).description, `${path} ${status}`)
        for (const one of follow(response).content['application/json'].schema.oneOf ?? []) {
          const { code, message } = follow(one).properties
          if (code.const) described.set(code.const, { status, message: message.default })
        }
      }
      const declared = Object.keys(procedure['~orpc'].errorMap) as (keyof typeof errors)[]
      assert.deepEqual([...described.keys()].toSorted(), declared.toSorted(), path)
      for (const code of declared) {
        const { status, message } = errors[code]
        assert.deepEqual(described.get(code), { status: String(status), message }, `${path} ${code}`)
      }
    }
    assert.equal(ids.size, operations.length)
  })

  it('describes what streams: how it is asked, what is sent, and which errors there are', () => {
    const media: Record<string, [request: string | undefined, answer: string]> = {
      '/runs/{id}/tail': [undefined, 'text/event-stream'],
      '/events/tail': [undefined, 'text/event-stream'],
      '/git/archive': [undefined, 'application/zip'],
      '/git/raw': [undefined, 'text/plain'],
      '/records/export': ['application/json', 'application/x-ndjson'],
      '/records/import': ['application/x-ndjson', 'application/json'],
    }
    for (const stream of Object.values(streams)) {
      const { route, errorMap } = stream['~orpc']
      const path = route.path ?? ''
      const operation = document.paths[path][route.method === 'GET' ? 'get' : 'post']
      const sent = (content: object) => Object.keys(content)
      const [request, answer] = media[path] ?? []
      assert.deepEqual(sent(operation.requestBody?.content ?? {}), request ? [request] : [], path)
      assert.deepEqual(sent(operation.responses['200'].content), [answer], path)
      const [[, described]] = Object.entries<Json>(operation.responses['200'].content) as [[string, Json]]
      assert.ok(described.schema && described.example && operation.description, path)
      const codes = Object.entries<Json>(operation.responses)
        .filter(([status]) => /^[45]/.test(status))
        .flatMap(([, response]) => follow(response).content['application/json'].schema.oneOf)
        .map((one: Json) => follow(one).properties.code.const)
        .filter(Boolean)
      assert.deepEqual(codes.toSorted(), Object.keys(errorMap).toSorted(), path)
    }
    const places = (path: string, method: string): string[] =>
      document.paths[path][method].parameters.map((one: Json) => `${follow(one).in} ${follow(one).name}`)
    assert.deepEqual(places('/runs/{id}/tail', 'get'), [
      'path id',
      'query org',
      'header last-event-id',
      'header Trellis-Org',
    ])
    assert.deepEqual(places('/records/import', 'post'), ['query name', 'query record', 'header Trellis-Org'])
  })

  it('says everything once: references lead somewhere, and what is shared is referred to', () => {
    const referred = new Set<string>()
    JSON.stringify(document, (key, value) => {
      if (key === '$ref') {
        referred.add(value)
        assert.ok(follow({ $ref: value }), value)
      }
      return value
    })
    for (const kind of ['schemas', 'responses', 'parameters'])
      for (const name of Object.keys(document.components[kind]))
        assert.ok(referred.has(`#/components/${kind}/${name}`), name)
    const written = JSON.stringify(document.paths)
    for (const code of Object.keys(errors)) assert.ok(!written.includes(`"const":"${code}"`), code)
    for (const name of ['Repo', 'GitRef', 'RepoToken', 'Webhook', 'Run', 'UndeclaredError'])
      assert.equal(shared(name).type, 'object', name)
    assert.deepEqual(operationAt('/repos/get').responses['200'].content['application/json'].schema, {
      $ref: '#/components/schemas/Repo',
    })
  })

  it('asks for what is always there, whatever it holds', () => {
    assert.ok(shared('ExtensionEntry').required.includes('version'))
    assert.ok(shared('Run').required.includes('input'))
    assert.ok(!shared('Run').required.includes('output'))
    assert.deepEqual(shared('FEATURE_UNAVAILABLE').properties.data.required, ['feature'])
    for (const code of Object.keys(errors).filter((code) => shared(code)))
      assert.deepEqual(shared(code).required, ['defined', 'code', 'status', 'message', 'data'], code)
  })

  it('offers the organization to act in wherever a credential counts', () => {
    const { name, in: where, required } = document.components.parameters.TrellisOrg
    assert.deepEqual([name, where, required], ['Trellis-Org', 'header', undefined])
    for (const { path, procedure } of allOperations()) {
      const { ignoresCredential } = procedure['~orpc'].meta as OperationMeta
      assert.deepEqual(
        operationAt(path).parameters,
        ignoresCredential ? undefined : [{ $ref: '#/components/parameters/TrellisOrg' }],
        path,
      )
    }
  })

  it('has examples that the contract takes', () => {
    for (const { path, procedure } of allOperations()) {
      const { inputSchema, outputSchema, errorMap } = procedure['~orpc']
      const { example } = operationAt(path).requestBody.content['application/json']
      const result = inputSchema?.['~standard'].validate(example)
      assert.ok(
        result && !(result instanceof Promise) && !result.issues,
        `${path} ${JSON.stringify(example)}`,
      )
      const data = (Object.keys(errorMap) as (keyof typeof errors)[]).map((code) => errors[code].data)
      for (const schema of [inputSchema, outputSchema, ...data]) checkExamples(path, schema as z.ZodType)
    }
  })

  it('describes the 23 operations of the interface with their limits', () => {
    const repoName = { type: 'string', minLength: 1, maxLength: 64, pattern: '^[a-z0-9][a-z0-9._-]*$' }
    const extensionName = { ...repoName, pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]*$' }
    const page = (max: number, fallback: number) => ({
      type: 'integer',
      minimum: 1,
      maximum: max,
      default: fallback,
    })

    for (const path of the23) assert.ok(operationAt(path), path)
    const named = the23.filter((path) => 'name' in (input(path).properties ?? {}))
    assert.equal(named.length, 13)
    for (const path of named) assert.deepEqual(field(path, 'name'), repoName, path)
    assert.deepEqual(field('/runs/dispatch', 'extension'), extensionName)
    assert.deepEqual(field('/webhooks/disable', 'webhook'), extensionName)
    assert.deepEqual(field('/webhooks/secret', 'webhook'), extensionName)
    assert.deepEqual(field('/repos/create', 'defaultBranch'), {
      type: 'string',
      minLength: 1,
      maxLength: 139,
      default: 'main',
    })
    assert.deepEqual(field('/repos/list', 'limit'), page(100, 50))
    assert.deepEqual(field('/git/branches/list', 'limit'), page(100, 50))
    assert.deepEqual(field('/runs/logs', 'limit'), page(250, 100))
    assert.deepEqual(field('/records/list', 'limit'), page(1000, 100))
    assert.deepEqual(field('/invites/createAnonymous', 'grantTtlSeconds'), {
      type: 'integer',
      minimum: 60,
      maximum: 86_400,
      default: 1800,
    })
    assert.equal(field('/invites/createAnonymous', 'expiresIn').default, 604_800)
    assert.deepEqual(field('/invites/createAnonymous', 'maxReveals'), {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
    })
    assert.equal(field('/invites/reveal', 'id').minLength, 16)
    assert.equal(field('/invites/reveal', 'id').maxLength, 128)
    assert.equal(field('/agents/claimComplete', 'userCode').pattern, '^\\d{6}$')
    assert.equal(field('/records/list', 'record').pattern, '^[A-Za-z][A-Za-z0-9_]*$')
    assert.equal(field('/webhooks/redeliver', 'deliveryId').format, 'uuid')
    assert.equal(field('/members/setRole', 'orgSlug').pattern, '^[a-z0-9][a-z0-9-]*$')
    assert.deepEqual(field('/members/setRole', 'role').enum, ['admin', 'member'])
    assert.deepEqual(input('/repos/create').required, ['name'])
    assert.equal(input('/repos/list').required, undefined)
    for (const path of [
      '/tokens/validate',
      '/invites/createAnonymous',
      '/invites/reveal',
      '/invites/listAnonymous',
    ])
      assert.deepEqual(operationAt(path).security, [{}], path)
    assert.equal(operationAt('/repos/list').security, undefined)
  })
})

/** Holds the examples of a schema, and of all that is in it, against it. */
function checkExamples(path: string, schema: z.ZodType): void {
  z.toJSONSchema(schema, {
    unrepresentable: 'any',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      for (const example of jsonSchema.examples ?? [])
        assert.ok(z.safeParse(zodSchema, example).success, `${path} ${JSON.stringify(example)}`)
    },
  })
}

const the23 = [
  '/agents/claimView',
  '/agents/claimComplete',
  '/agents/revoke',
  '/tokens/list',
  '/tokens/validate',
  '/keys/list',
  '/repos/list',
  '/repos/create',
  '/git/branches/list',
  '/git/tags/create',
  '/records/list',
  '/extensions/list',
  '/extensions/promote',
  '/daemons/list',
  '/runs/dispatch',
  '/runs/logs',
  '/members/setRole',
  '/invites/createAnonymous',
  '/invites/reveal',
  '/invites/listAnonymous',
  '/webhooks/redeliver',
  '/webhooks/disable',
  '/webhooks/secret',
]

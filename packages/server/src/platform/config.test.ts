import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConfig } from './config.ts'
import { StartError } from './start-error.ts'

type Env = Record<string, string | undefined>

/** Everything a configuration is said to be wrong about. */
function problemsOf(env: Env): string[] {
  try {
    parseConfig(env)
  } catch (error) {
    assert.ok(error instanceof StartError)
    const [head, ...problems] = error.message.split('\n')
    assert.equal(head, 'The configuration has problems:')
    return problems.map((line) => {
      assert.match(line, /^ {2}- /)
      return line.slice(4)
    })
  }
  return []
}

describe('the configuration', () => {
  it('is complete without a single variable', () => {
    const config = parseConfig({ PATH: '/bin', HOME: '/root' })
    assert.deepEqual(config.listen, { host: '127.0.0.1', port: 8787 })
    assert.equal(config.data, './data')
    assert.equal(config.database.url, undefined)
    assert.equal(config.secret, undefined)
    assert.equal(config.baseUrl, undefined)
    assert.deepEqual(config.owner, { email: 'owner@trellis.local', key: undefined, password: undefined })
    assert.equal(config.signUp, 'open')
    assert.deepEqual(config.providers, { github: undefined, oidc: undefined })
    assert.deepEqual(config.trustedProxies, [])
    assert.deepEqual(config.corsOrigins, [])
    assert.equal(config.limits.requestsPerSecond, 100)
    assert.equal(config.limits.requestBurst, 2000)
    assert.equal(config.limits.bodyBytes, 1024 * 1024)
    assert.equal(config.limits.reposPerOrg, 10_000)
  })

  it('takes an empty variable for one that is not set', () => {
    assert.deepEqual(
      parseConfig({
        TRELLIS_LISTEN: '',
        TRELLIS_SECRET: '',
        TRELLIS_SIGN_UP: '',
        TRELLIS_GITHUB_CLIENT_ID: '',
      }),
      parseConfig({}),
    )
  })

  it('reads addresses to listen on', () => {
    const listenOn = (value: string) => parseConfig({ TRELLIS_LISTEN: value }).listen
    assert.deepEqual(listenOn('0.0.0.0:80'), { host: '0.0.0.0', port: 80 })
    assert.deepEqual(listenOn('[::1]:8787'), { host: '::1', port: 8787 })
    assert.deepEqual(listenOn('localhost:0'), { host: 'localhost', port: 0 })
  })

  it('reads lists, and URLs without their last slash', () => {
    const config = parseConfig({
      TRELLIS_TRUSTED_PROXIES: ' 127.0.0.1, 10.0.0.0/8 ,2001:db8::/32,,',
      TRELLIS_CORS_ORIGINS: 'https://console.example/, http://localhost:5173',
      TRELLIS_BASE_URL: 'https://trellis.example//',
    })
    assert.deepEqual(config.trustedProxies, ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'])
    assert.deepEqual(config.corsOrigins, ['https://console.example', 'http://localhost:5173'])
    assert.equal(config.baseUrl, 'https://trellis.example')
  })

  it('takes a server for mail whose password can be read', () => {
    const of = (url: string) => problemsOf({ TRELLIS_SMTP_URL: url })
    assert.deepEqual(of('https://mail.example'), ['TRELLIS_SMTP_URL must be an smtp or smtps URL'])
    assert.deepEqual(of('smtp://me:100%@mail.example'), [
      'TRELLIS_SMTP_URL must have user name and password percent-encoded',
    ])
    const url = 'smtps://me:100%25@mail.example:465'
    assert.equal(parseConfig({ TRELLIS_SMTP_URL: url }).mail.smtpUrl, url)
  })

  it('reports everything that is wrong together', () => {
    const problems = problemsOf({
      TRELLIS_LISTEN: 'nowhere',
      TRELLIS_BASE_URL: 'ftp://x',
      TRELLIS_DATABASE_URL: 'mysql://x',
      TRELLIS_DATABASE_POOL: '1',
      TRELLIS_SECRET: 'short',
      TRELLIS_OWNER_EMAIL: 'nobody',
      TRELLIS_OWNER_KEY: 'short',
      TRELLIS_OWNER_PASSWORD: 'short',
      TRELLIS_SIGN_UP: 'maybe',
      TRELLIS_TRUSTED_PROXIES: '10.0.0.0/33',
      TRELLIS_CORS_ORIGINS: 'console.example',
      TRELLIS_METRICS_TOKEN: 'short',
      TRELLIS_LOG_LEVEL: 'loud',
      TRELLIS_RATE_PER_SECOND: '0',
      TRELLIS_RATE_BURST: '-1',
      TRELLIS_MAX_BODY_BYTES: '1.5',
      TRELLIS_ORG_MAX_REPOS: 'many',
      TRELLIS_LISTN: '127.0.0.1:1',
      TRELLIS_GITHUB_CLIENT_ID: 'x',
      TRELLIS_OIDC_CLIENT_SECRET: 'y',
    })
    const expected = [
      'TRELLIS_LISTEN must look like 127.0.0.1:8787',
      'TRELLIS_BASE_URL must be an http or https URL',
      'TRELLIS_DATABASE_URL must begin with postgres:// or postgresql://',
      'TRELLIS_DATABASE_POOL must be at least 2',
      'TRELLIS_SECRET must have at least 32 characters',
      'TRELLIS_OWNER_EMAIL must be an email address',
      'TRELLIS_OWNER_KEY must have at least 16 characters',
      'TRELLIS_OWNER_PASSWORD must have at least 10 characters',
      'TRELLIS_SIGN_UP must be one of open, invited, closed',
      'TRELLIS_TRUSTED_PROXIES must be IP addresses or CIDR ranges',
      'TRELLIS_CORS_ORIGINS must be an http or https URL',
      'TRELLIS_METRICS_TOKEN must have at least 16 characters',
      'TRELLIS_LOG_LEVEL must be one of debug, info, warn, error',
      'TRELLIS_RATE_PER_SECOND must be at least 1',
      'TRELLIS_RATE_BURST must be a whole number',
      'TRELLIS_MAX_BODY_BYTES must be a whole number',
      'TRELLIS_ORG_MAX_REPOS must be a whole number',
      'TRELLIS_LISTN is not a setting of Trellis',
      'TRELLIS_GITHUB_CLIENT_SECRET must be set too, beside TRELLIS_GITHUB_CLIENT_ID',
      'TRELLIS_OIDC_ISSUER and TRELLIS_OIDC_CLIENT_ID must be set too, beside TRELLIS_OIDC_CLIENT_SECRET',
    ]
    assert.deepEqual(problems.toSorted(), expected.toSorted())
  })

  it('refuses a variable it does not know, and leaves those of others alone', () => {
    assert.deepEqual(problemsOf({ TRELLIS_FOO: 'x', FOO: 'x', trellis_listen: 'x' }), [
      'TRELLIS_FOO is not a setting of Trellis',
    ])
  })

  it('asks for settings that belong together', () => {
    assert.deepEqual(problemsOf({ TRELLIS_GITHUB_CLIENT_SECRET: 'x' }), [
      'TRELLIS_GITHUB_CLIENT_ID must be set too, beside TRELLIS_GITHUB_CLIENT_SECRET',
    ])
    const whole = parseConfig({
      TRELLIS_GITHUB_CLIENT_ID: 'id',
      TRELLIS_GITHUB_CLIENT_SECRET: 'secret',
      TRELLIS_OIDC_ISSUER: 'https://id.example/',
      TRELLIS_OIDC_CLIENT_ID: 'id',
      TRELLIS_OIDC_CLIENT_SECRET: 'secret',
    })
    assert.deepEqual(whole.providers, {
      github: { url: 'https://github.com', clientId: 'id', clientSecret: 'secret' },
      oidc: { issuer: 'https://id.example', name: 'Single sign-on', clientId: 'id', clientSecret: 'secret' },
    })
  })

  it('never repeats a value it refuses, which may be a secret', () => {
    for (const name of [
      'TRELLIS_SECRET',
      'TRELLIS_OWNER_KEY',
      'TRELLIS_OWNER_PASSWORD',
      'TRELLIS_DATABASE_URL',
    ])
      assert.ok(
        !problemsOf({ [name]: 'hush' })
          .join()
          .includes('hush'),
        name,
      )
  })

  it('refuses a database URL that is none, and does not repeat it', () => {
    for (const url of ['postgres://a:b@127.0.0.1:99999/x', 'postgres://a:b/c@host/x'])
      assert.deepEqual(problemsOf({ TRELLIS_DATABASE_URL: url }), [
        'TRELLIS_DATABASE_URL must be a URL, with what is special in the password written as %40 and the like',
      ])
    for (const url of [
      'postgres://',
      'postgresql:///x?host=/run/postgresql',
      'postgres://a:b%40c@[::1]:5432/x',
    ])
      assert.equal(parseConfig({ TRELLIS_DATABASE_URL: url }).database.url, url)
  })

  it('refuses a base URL below which nothing would be found', () => {
    for (const url of ['https://example.com/trellis', 'https://example.com/?a', 'https://ana@example.com'])
      assert.deepEqual(problemsOf({ TRELLIS_BASE_URL: url }), [
        'TRELLIS_BASE_URL must be a scheme and a host, and no path: Trellis needs a host name or a port of its own',
      ])
    assert.equal(
      parseConfig({ TRELLIS_BASE_URL: 'http://git.example:8080/' }).baseUrl,
      'http://git.example:8080',
    )
  })

  it('refuses ports and ranges that cannot be', () => {
    assert.deepEqual(problemsOf({ TRELLIS_LISTEN: '127.0.0.1:65536' }), [
      'TRELLIS_LISTEN must have a port up to 65535',
    ])
    for (const range of [
      '10.0.0.0/33',
      '::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      'localhost',
      '10.0.0.0/x',
      '10.0.0',
    ])
      assert.equal(problemsOf({ TRELLIS_TRUSTED_PROXIES: range }).length, 1, range)
  })
})

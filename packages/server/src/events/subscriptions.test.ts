import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Subscription } from '@trellis/contract'
import { compileSubscription, type Happening, subscriptionIssues } from './subscriptions.ts'

const ada = { kind: 'user', id: 'usr_ada' } as const

const push = (ref: string, more: object = {}): Happening => ({
  type: 'git.push',
  actor: ada,
  subject: ref,
  payload: {
    ref,
    created: false,
    deleted: false,
    paths: ['README.md', 'src/a/b.ts'],
    pathsTruncated: false,
    ...more,
  },
})
const event = (type: string, subject?: string): Happening => ({ type, actor: ada, subject })

const main = push('refs/heads/main')
const tag = push('refs/tags/v1')

function hears(on: Subscription, wanted: Happening[], unwanted: Happening[]): void {
  assert.deepEqual(subscriptionIssues(on, []), [])
  const listens = compileSubscription(on)
  for (const happening of wanted) assert.ok(listens(happening), `does not hear ${JSON.stringify(happening)}`)
  for (const happening of unwanted) assert.ok(!listens(happening), `hears ${JSON.stringify(happening)}`)
}

describe('a subscription', () => {
  it('that names nothing hears everything', () => {
    hears({}, [main, tag, event('repo.deleted')], [])
  })

  it('to pushes hears every ref, and nothing but pushes', () => {
    hears({ push: {} }, [main, tag, push('refs/notes/commits')], [event('git.branch.created', 'main')])
    hears({ push: { branches: [], paths: [] } }, [main, tag], [event('repo.updated')])
  })

  it('with branches hears those branches, and no tag', () => {
    hears({ push: { branches: ['main'] } }, [main], [tag, push('refs/heads/dev'), push('refs/heads/x/main')])
    hears({ push: { branches: ['*'] } }, [main], [push('refs/heads/feature/a'), tag])
    hears({ push: { branches: ['**'] } }, [main, push('refs/heads/feature/a/b')], [tag])
    hears(
      { push: { branches: ['release/*', '{main,dev}'] } },
      [main, push('refs/heads/dev'), push('refs/heads/release/1.0')],
      [push('refs/heads/release/1.0/rc'), push('refs/heads/devel')],
    )
    hears(
      { push: { branches: ['**', '!dependabot/**'] } },
      [main, push('refs/heads/.hidden')],
      [push('refs/heads/dependabot/npm/x')],
    )
    hears({ push: { branches: ['!main'] } }, [push('refs/heads/dev')], [main])
  })

  it('with paths hears a push that changes one of them', () => {
    hears({ push: { paths: ['src/**'] } }, [main], [push('refs/heads/main', { paths: ['README.md'] })])
    hears({ push: { paths: ['**/*.ts'] } }, [main], [push('refs/heads/main', { paths: ['a.tsx'] })])
    hears(
      { push: { paths: ['**', '!docs/**'] } },
      [main, push('refs/heads/main', { paths: ['docs/a', 'src/b'] })],
      [push('refs/heads/main', { paths: ['docs/a', 'docs/b/c'] })],
    )
    hears({ push: { branches: ['main'], paths: ['*.md'] } }, [main], [push('refs/heads/dev'), tag])
  })

  it('with paths hears what it cannot rule out, and not that a branch is gone or there is a tag', () => {
    hears(
      { push: { paths: ['nowhere'] } },
      [
        push('refs/heads/main', { pathsTruncated: true }),
        push('refs/heads/main', { paths: undefined, pathsTruncated: undefined }),
      ],
      [
        push('refs/heads/main', { deleted: true, paths: undefined }),
        push('refs/tags/v1', { created: true, paths: undefined, pathsTruncated: undefined }),
      ],
    )
  })

  it('to events hears types exactly or by pattern', () => {
    hears(
      { event: { types: ['repo.updated'] } },
      [event('repo.updated')],
      [event('repo.updated.twice'), main],
    )
    hears(
      { event: { types: ['git.*', 'token.*'] } },
      [main, event('git.branch.created')],
      [event('repo.updated')],
    )
    hears({ event: { types: ['*'] } }, [main, event('a.b.c')], [])
    hears({ event: { types: ['*', '!git.*'] } }, [event('repo.updated')], [main])
  })

  it('to events looks at the subject and at who did it', () => {
    hears(
      { event: { types: ['git.*'], subject: 'release/*' } },
      [event('git.branch.created', 'release/2')],
      [event('git.branch.created', 'main'), event('git.branch.created')],
    )
    for (const from of ['user', 'usr_ada', 'user:usr_ada'])
      hears({ event: { types: ['*'], from } }, [main], [])
    for (const from of ['agent', 'usr_bob', 'agent:usr_ada'])
      hears({ event: { types: ['*'], from } }, [], [main])
  })

  it('to pushes and events hears both', () => {
    hears(
      { push: { branches: ['main'] }, event: { types: ['repo.deleted'] } },
      [main, event('repo.deleted')],
      [push('refs/heads/dev'), event('repo.updated')],
    )
  })

  it('hears of one among many refs that moved together', () => {
    const many = (type: string, refs: object[], refsTruncated = false): Happening => ({
      type,
      actor: ada,
      payload: { refs, refsTruncated },
    })
    const moved = many('git.push', [
      { ref: 'refs/tags/v1', before: null, after: 'a' },
      { ref: 'refs/heads/dev', before: 'b', after: null },
      { ref: 'refs/heads/release/1', before: null, after: 'a' },
    ])
    const more = many('git.push', [{ ref: 'refs/tags/v1', before: null, after: 'a' }], true)
    hears({ push: {} }, [moved, more], [])
    hears({ push: { branches: ['release/*'] } }, [moved, more], [])
    hears({ push: { branches: ['main'] } }, [more], [moved])
    // Of none of them the paths are known, but one that went changed none.
    hears({ push: { branches: ['dev'], paths: ['src/**'] } }, [], [moved])
    hears({ push: { branches: ['release/*'], paths: ['src/**'] } }, [moved], [])
    const tags = many('git.push', [{ ref: 'refs/tags/v1', before: null, after: 'a' }])
    hears({ push: { paths: ['**'] } }, [moved], [tags])
    const created = many('git.branch.created', [{ ref: 'refs/heads/release/1', oid: 'a' }])
    hears({ event: { types: ['git.branch.*'], subject: 'release/*' } }, [created], [moved])
    hears({ event: { types: ['git.*'], subject: 'refs/heads/*' } }, [moved], [created])
  })

  it('refuses patterns that are none, each at its place', () => {
    const bad = ['', '!', '+(a|aa)', '(a+)+', 'a\\b', 'a\0', 'x'.repeat(300)]
    const issues = subscriptionIssues({ push: { branches: bad, paths: ['ok'] } }, ['on'])
    assert.deepEqual(
      issues.map(({ path }) => path),
      bad.map((_, i) => ['on', 'push', 'branches', i]),
    )
    assert.deepEqual(
      subscriptionIssues({ push: { paths: Array(65).fill('a') } }, []).map(({ path }) => path),
      [['push', 'paths']],
    )
  })

  it('takes hostile paths for matching rather than keeping everybody waiting', () => {
    const paths = Array.from({ length: 1000 }, (_, i) => `${'a/'.repeat(500)}${i}`)
    const patterns = Array.from({ length: 64 }, (_, i) => `**/a/**/b${i}`)
    const listens = compileSubscription({ push: { paths: patterns } })
    const effort = { steps: 100_000 }
    assert.ok(listens(push('refs/heads/main', { paths }), effort))
    // It stopped when that was spent, or soon after.
    assert.ok(effort.steps < 0 && effort.steps > -1_000, `${effort.steps} steps are left`)
    assert.ok(compileSubscription({ push: { branches: patterns } })(main, { steps: 2 }))
    assert.ok(!compileSubscription({ push: { branches: ['!**'] } })(main, { steps: 1_000 }))
    assert.ok(compileSubscription({ push: { branches: ['!**'] } })(main, { steps: 2 }))
  })

  it('may have patterns of 2,048 characters together', () => {
    const eight = Array.from({ length: 8 }, (_, i) => `${i}${'x'.repeat(255)}`)
    assert.deepEqual(subscriptionIssues({ push: { branches: eight } }, ['on']), [])
    assert.deepEqual(
      subscriptionIssues({ push: { branches: eight, paths: ['y'] } }, ['on']).map(({ path }) => path),
      [['on']],
    )
  })
})

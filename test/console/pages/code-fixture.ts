// A repository with something of everything that can be looked at.

import type { TestApp } from '@trellis/server/testing'
import { createClient, createSandbox } from '../../git/client.ts'

/** What a README must not be able to do, beside what it should. */
const README = `# Widgets

Small things, **well made**. See [the guide](docs/guide.md#how-to-begin), [the directory](./docs), [outside](../../etc)
and [this part](#tables-and-tasks).

<script>window.broken = 'script'</script>
<img src="img/logo.png" onerror="window.broken = 'onerror'" width="64" alt="with a handler">
<p align="center" style="position:fixed" onclick="window.broken = 'onclick'">In the middle</p>
<a href="javascript:window.broken='link'">a script</a> <a href="JaVa&#10;Script:window.broken='link'">another</a>
[a third](javascript:window.broken=1) [data](data:text/html,<script>window.broken=2</script>)
<iframe src="https://example.com/"></iframe><style>body { display: none }</style>
<svg><a xlink:href="javascript:window.broken=3"><text>vector</text></a></svg>
<form action="https://example.com/"><button>Send</button></form><div id="root">Not the root</div>
<math><mtext><img src onerror="window.broken=4"></mtext></math>

![Elsewhere](https://example.com/badge.svg) [![Badge](https://example.com/b.svg)](https://example.com/ci)

![Logo](img/logo.png)

## Tables and tasks

| left | right |
| :--- | ----: |
| a    |     1 |

- [x] made
- [ ] sold

\`\`\`ts
const answer: number = 42
\`\`\`
`

const GUIDE = `---
title: Guide
---

# Guide

Back to [the front](/README.md).

${'Words that fill the page.\n\n'.repeat(60)}
## How to begin

Here.
`

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const LONG = Array.from({ length: 20_000 }, (_, i) => `export const value${i + 1} = 'text ${i + 1}' // ${i}`)

interface File {
  path: string
  mode?: '100644' | '100755' | '120000'
  content: string | Buffer
}

const FIRST: File[] = [
  { path: 'README.md', content: README },
  { path: 'docs/guide.md', content: GUIDE },
  { path: 'img/logo.png', content: PNG },
  { path: 'src/long.ts', content: `${LONG.join('\n')}\n` },
  {
    path: 'src/hello.ts',
    content: `export function hello(name: string) {\n\treturn \`hello \${name}\`\n}\n`,
  },
  { path: 'src/odd #1 100%?.txt', content: 'odd\n' },
  { path: 'src/data.bin', content: Buffer.from([0, 1, 2, 255, 254]) },
  { path: 'src/large.txt', content: 'a line\n'.repeat(400_000) },
  { path: 'run.sh', mode: '100755', content: '#!/bin/sh\necho hello\n' },
  { path: 'latest', mode: '120000', content: 'docs/guide.md' },
]
const MANY: File[] = Array.from({ length: 10_000 }, (_, i) => ({
  path: `many/file-${String(i).padStart(5, '0')}.txt`,
  content: `${i % 50}\n`,
}))

const DAY_S = 86_400
const BEGINNING_S = 1_767_225_600

/** Everything at once, as git reads it. */
function history(): Buffer {
  const parts: (string | Buffer)[] = []
  let commits = 0
  const commit = (message: string, files: File[], extra = ''): void => {
    const who = `${++commits % 2 ? 'Ana <ana@example.com>' : 'Scribe <scribe@example.com>'}`
    const at = BEGINNING_S + commits * DAY_S
    parts.push(`commit refs/heads/main\nauthor ${who} ${at} +0000\ncommitter ${who} ${at} +0000\n`)
    parts.push(`data ${Buffer.byteLength(message)}\n${message}\n`)
    for (const { path, mode = '100644', content } of files) {
      const bytes = Buffer.from(content)
      parts.push(`M ${mode} inline "${path}"\ndata ${bytes.length}\n`, bytes, '\n')
    }
    parts.push(`${extra}\n`)
  }
  commit('Begin\n\nWith everything there is.', FIRST)
  parts.push('reset refs/tags/release/1.0\nfrom refs/heads/main\n\n')
  commit('Add many files', MANY)
  commit('Use a library', [], `M 160000 ${'c'.repeat(40)} "vendor"\n`)
  commit('Say hello louder', [
    {
      path: 'src/hello.ts',
      content: `export function hello(name: string) {\n\treturn \`HELLO \${name}\`\n}\n`,
    },
  ])
  parts.push('reset refs/heads/feature/deep/work\nfrom refs/heads/main\n\n')
  return Buffer.concat(parts.map((part) => Buffer.from(part)))
}

/** One commit, and more branches than any list shows. */
function forest(): string {
  const who = `Ana <ana@example.com> ${BEGINNING_S} +0000`
  const branches = Array.from({ length: 2_500 }, (_, i) => `wood/tree-${String(i).padStart(4, '0')}`)
  return [
    `commit refs/heads/main\ncommitter ${who}\ndata 5\nBegin\nM 100644 inline a.txt\ndata 2\na\n\n`,
    ...branches.map((branch) => `reset refs/heads/${branch}\nfrom refs/heads/main\n\n`),
  ].join('')
}

type Pusher = { token: string; slug: string }

/** Makes it, and pushes it as somebody. */
export const pushWidgets = (app: TestApp, pusher: Pusher) =>
  push(app, pusher, {
    to: 'widgets',
    made: history(),
    refs: ['main', 'feature/deep/work', 'release/1.0'],
  })

export const pushForest = (app: TestApp, pusher: Pusher) =>
  push(app, pusher, { to: 'forest', made: forest(), refs: ['refs/heads/*'] })

async function push(
  app: TestApp,
  { token, slug }: Pusher,
  { to, made, refs }: { to: string; made: string | Buffer; refs: string[] },
) {
  const sandbox = createSandbox()
  try {
    const client = createClient(sandbox.path(), { token })
    await client.run('init', '-q', '--bare')
    await client.feed(made, 'fast-import', '--quiet')
    await client.run('push', '-q', `${app.url}/git/${slug}/${to}.git`, ...refs)
    return { head: await client.rev('main') }
  } finally {
    sandbox.remove()
  }
}

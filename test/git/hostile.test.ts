// Bodies that are broken, cut, too large or meant to do harm: refused in words, and nothing of them stays.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createSqlite } from '@trellis/server/testing'
import { all, type Client, FLUSH, pkt, post, pushBody, pushRaw, useHost } from './harness.ts'
import { leavesNothing, stored } from './traces.ts'

let client: Client
let head: string
/** What the client has and the host does not. */
let next: string
let pack: Buffer
const host = useHost(createSqlite, { TRELLIS_PUSH_MAX_BYTES: '5000000' }, async (host) => {
  ;({ client } = await host.filled('target'))
  head = await client.rev('main')
  next = await client.commit({ 'new.txt': 'new\n'.repeat(200), 'dir/other.txt': 'other\n' })
  pack = await packOf(client, `${next}\n^${head}\n`)
})

async function packOf(from: Client, revisions: string): Promise<Buffer> {
  const { code, stdout, stderr } = await from.feedRaw(revisions, 'pack-objects', '--stdout', '--revs', '-q')
  assert.equal(code, 0, stderr)
  return stdout
}

/** The same numbers in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function flipped(body: Buffer, position: number, bit: number): Buffer {
  const copy = Buffer.from(body)
  copy.writeUInt8(copy.readUInt8(position) ^ (1 << bit), position)
  return copy
}

const advance = () => [{ ref: 'refs/heads/main', before: head, after: next }]

describe('a broken push', () => {
  it('with a flipped bit anywhere in its pack is refused', async () => {
    const roll = dice(1)
    await leavesNothing(host, () =>
      all(
        Array.from({ length: 30 }, () => flipped(pack, roll(pack.length), roll(8))),
        async (broken) => assert.match(await pushRaw(host, 'target', advance(), broken), /unpack (?!ok)/),
      ),
    )
  })

  it('that is cut short is refused', async () => {
    const roll = dice(2)
    const body = pushBody(advance(), pack)
    await leavesNothing(host, () =>
      all(
        Array.from({ length: 20 }, () => body.subarray(0, 5 + roll(body.length - 6))),
        async (cut) => {
          const { status, body: answer } = await post(host, 'target', 'git-receive-pack', cut)
          assert.equal(status, 200)
          assert.match(answer.toString(), /ERR |unpack (?!ok)/)
        },
      ),
    )
  })

  it('with a flipped bit in its commands is refused, or does what its commands say then', async () => {
    const roll = dice(3)
    const before = await stored(host, 'target')
    const body = pushBody([{ ref: 'refs/heads/fuzz', after: head }])
    const commands = body.length - 32
    await all(
      Array.from({ length: 60 }, () => flipped(body, roll(commands), roll(8))),
      async (odd) => {
        const { status, body: answer } = await post(host, 'target', 'git-receive-pack', odd)
        assert.equal(status, 200)
        for (const [, ref = ''] of answer.toString().matchAll(/ok (refs\/[^\n]+)\n/g))
          assert.equal((await host.refs('target'))[ref], head)
      },
    )
    // Some were good pushes of another name, or did not want to hear how they ended.
    for (const [ref, oid] of Object.entries(await host.refs('target')))
      if (!(ref in before.refs)) {
        assert.equal(oid, head)
        await pushRaw(host, 'target', [{ ref, before: oid }])
      }
    const { events: _before, ...earlier } = before
    const { events: _after, ...later } = await stored(host, 'target')
    assert.deepEqual(later, earlier)
  })

  it('of random bytes is refused', async () => {
    const roll = dice(4)
    await leavesNothing(host, () =>
      all(
        Array.from({ length: 40 }, (_, i) => randomBytes(1 + roll(i * 50 + 4))),
        async (noise) => {
          for (const service of ['git-receive-pack', 'git-upload-pack'] as const)
            for (const version of ['version=2', 'version=0']) {
              const { status } = await post(host, 'target', service, noise, { 'git-protocol': version })
              assert.ok(status < 500, `${status} for ${noise.toString('hex')}`)
            }
        },
      ),
    )
  })

  it('whose lengths lie is refused', async () => {
    const command = `${head} ${next} refs/heads/main\0 report-status`
    const line = (length: string, text = command) => Buffer.from(`${length}${text}`)
    const bodies = [
      line('ffff'),
      line('fff0'),
      line('0003'),
      line('0001'),
      line('0002'),
      line('0004', ''),
      line('-001'),
      line('zzzz'),
      line('00'),
      Buffer.concat([pkt(command), Buffer.from('ffff')]),
      Buffer.concat([pkt(command), pkt(command)]),
      // Names that no ref can have, and one that is endless.
      ...['refs/heads/../x', 'refs/heads/.x', 'HEAD', 'refs/x', 'refs/heads/a b', 'x'.repeat(9000)].map(
        (ref) => pushBody([{ ref, after: head }]),
      ),
      pushBody([{ ref: Buffer.from('refs/heads/\xff\xfe', 'latin1'), after: head }]),
      pushBody(
        [
          { ref: 'refs/heads/a', after: head },
          { ref: 'refs/heads/a', after: next },
        ].slice(0, 1),
        Buffer.alloc(0),
      ),
      pushBody(advance(), Buffer.from('PACK')),
      pushBody(advance(), Buffer.from('nonsense that is no pack at all')),
      pushBody([{ ref: 'refs/heads/x' }]),
      pushBody(advance(), pack, 'report-status object-format=sha256'),
    ]
    await leavesNothing(host, () =>
      all(bodies, async (body) => {
        const { status, body: answer } = await post(host, 'target', 'git-receive-pack', body)
        assert.ok(status < 500)
        assert.doesNotMatch(answer.toString('latin1'), /\bok refs\//, body.toString('latin1').slice(0, 120))
      }),
    )
  })

  it('that is not the gzip it says is refused', async () => {
    const body = pushBody(advance(), pack)
    const zipped = gzipSync(body)
    const bomb = gzipSync(Buffer.alloc(100_000_000), { level: 1 })
    await leavesNothing(host, () =>
      all(
        [
          body,
          zipped.subarray(0, zipped.length / 2),
          flipped(zipped, zipped.length - 6, 3),
          randomBytes(100),
          bomb,
        ],
        async (odd) => {
          for (const service of ['git-receive-pack', 'git-upload-pack'] as const) {
            const { status, body: answer } = await post(host, 'target', service, odd, {
              'content-encoding': 'gzip',
            })
            assert.ok(status < 500)
            assert.doesNotMatch(answer.toString('latin1'), /\bok refs\//)
          }
        },
      ),
    )
  })

  it('that asks for objects in far fewer bytes than its lines have is refused', async () => {
    const asking = (ids: string[]) => {
      const haves = ids.map((id) => pkt(`have ${id}\n`))
      const lines = [pkt('command=fetch\n'), Buffer.from('0001'), ...haves, pkt('done\n'), FLUSH]
      return gzipSync(Buffer.concat(lines))
    }
    const ask = async (body: Buffer) => {
      const headers = { 'content-encoding': 'gzip', 'git-protocol': 'version=2' }
      return (await post(host, 'target', 'git-upload-pack', body, headers)).body.toString('latin1')
    }
    assert.match(await ask(asking(Array(100_000).fill('7'.repeat(40)))), /ERR the body inflates to too much/)
    const usual = Array.from({ length: 20_000 }, () => randomBytes(20).toString('hex'))
    assert.doesNotMatch(await ask(asking(usual)), /inflates/)
  })
})

describe('the rest of a body that was refused', () => {
  const large = randomBytes(8_000_000)
  const bodies: Record<string, [() => Buffer, Record<string, string>?]> = {
    'no packet': [() => large],
    'no pack': [() => pushBody([{ ref: 'refs/heads/x', after: head }], large)],
    'no gzip': [() => large, { 'content-encoding': 'gzip' }],
    'no packet in gzip': [() => gzipSync(large, { level: 1 }), { 'content-encoding': 'gzip' }],
    'too large': [() => pushBody([{ ref: 'refs/heads/x', after: head }], Buffer.concat([pack, large]))],
  }

  for (const [title, [body, headers]] of Object.entries(bodies))
    it(`does not hold up the next request on the same connection: ${title}`, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const ask = (method: string, path: string, sent?: Buffer) =>
        new Promise<number | undefined>((resolve, reject) => {
          const options = {
            agent,
            method,
            timeout: 10_000,
            headers: {
              authorization: `Bearer ${host.owner.token}`,
              ...(sent && { 'content-type': 'application/x-git-receive-pack-request', ...headers }),
            },
          }
          const asked = request(host.remote('target') + path, options, (response) => {
            response.resume()
            response.on('end', () => resolve(response.statusCode))
          })
          asked.on('timeout', () => asked.destroy(new Error('no answer')))
          asked.on('error', reject)
          asked.end(sent)
        })
      try {
        assert.equal(await ask('POST', '/git-receive-pack', body()), 200)
        assert.equal(await ask('GET', '/info/refs?service=git-upload-pack'), 200)
      } finally {
        agent.destroy()
      }
    })
})

describe('a broken fetch', () => {
  const wanting = (want: string) => ({
    v2: Buffer.concat([
      pkt('command=fetch'),
      pkt('agent=git/2.39.5'),
      Buffer.from('0001'),
      pkt('thin-pack'),
      pkt('ofs-delta'),
      pkt(`want ${want}\n`),
      pkt('done\n'),
      FLUSH,
    ]),
    v0: Buffer.concat([
      pkt(`want ${want} multi_ack_detailed no-done side-band-64k thin-pack ofs-delta agent=git/2.39.5\n`),
      FLUSH,
      pkt('done\n'),
    ]),
  })
  const fetchBody = (body: Buffer, version: '2' | '0') =>
    post(host, 'target', 'git-upload-pack', body, { 'git-protocol': `version=${version}` })

  it('with a flipped bit anywhere is refused or answered, never with a failure', async () => {
    const roll = dice(5)
    const { v2, v0 } = wanting(head)
    const asked = [v2, v0].flatMap((body, i) =>
      Array.from({ length: 40 }, () => ({
        body: flipped(body, roll(body.length), roll(8)),
        version: i === 0 ? ('2' as const) : ('0' as const),
      })),
    )
    await all(asked, async ({ body, version }) => {
      const answer = await fetchBody(body, version)
      assert.ok(answer.status < 500, body.toString('latin1'))
    })
  })

  it('for an object that is not there is told so', async () => {
    for (const version of ['2', '0'] as const) {
      const body = wanting('c'.repeat(40))[`v${version}`]
      const { status, body: answer } = await fetchBody(body, version)
      assert.equal(status, 200)
      assert.match(answer.toString(), /ERR .*not our ref c{40}/)
    }
  })

  it('with a filter that is not served is told so', async () => {
    const body = Buffer.concat([
      pkt('command=fetch'),
      Buffer.from('0001'),
      pkt('filter sparse:oid=main:x'),
      pkt(`want ${head}`),
      pkt('done'),
      FLUSH,
    ])
    const { status, body: answer } = await fetchBody(body, '2')
    assert.equal(status, 200)
    assert.match(answer.toString(), /ERR .*filter 'sparse:oid' not supported/)
  })

  it('that is cut short, repeats itself or asks for everything is refused or answered', async () => {
    const { v2, v0 } = wanting(head)
    const many = Buffer.concat([
      pkt('command=fetch'),
      Buffer.from('0001'),
      ...Array.from({ length: 20_000 }, () => pkt(`want ${randomBytes(20).toString('hex')}\n`)),
      pkt('done\n'),
      FLUSH,
    ])
    const bodies = [
      v2.subarray(0, v2.length - 5),
      v2.subarray(0, 20),
      Buffer.concat([v2, v2]),
      v0.subarray(0, 60),
      Buffer.concat([v0, v0]),
      Buffer.concat([pkt('command=ls-refs'), pkt('command=fetch'), FLUSH]),
      Buffer.concat([pkt('command=destroy'), FLUSH]),
      Buffer.concat([
        pkt('command=fetch'),
        Buffer.from('0001'),
        pkt('filter sparse:oid=main:x'),
        pkt(`want ${head}`),
        pkt('done'),
        FLUSH,
      ]),
      Buffer.concat([
        pkt('command=fetch'),
        Buffer.from('0001'),
        pkt('deepen -1'),
        pkt(`want ${head}`),
        pkt('done'),
        FLUSH,
      ]),
      Buffer.concat([
        pkt('command=fetch'),
        Buffer.from('0001'),
        pkt('deepen-not --all'),
        pkt(`want ${head}`),
        pkt('done'),
        FLUSH,
      ]),
      many,
    ]
    for (const body of bodies)
      for (const version of ['2', '0'] as const) assert.ok((await fetchBody(body, version)).status < 500)
  })
})

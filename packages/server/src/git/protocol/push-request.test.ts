import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { dataPacket, FLUSH_PACKET, ProtocolError } from './pkt-line.ts'
import { formatPushProgress, formatPushReport } from './push-report.ts'
import { readPush } from './push-request.ts'

const zero = '0'.repeat(40)
const a = 'a'.repeat(40)
const b = 'b'.repeat(40)
const usual = 'report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5'

async function* inChunks(bytes: Uint8Array, size = bytes.length > 100_000 ? 65536 : 13) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

/** The first line carries the capabilities. */
function body(lines: (string | Buffer)[], options: { capabilities?: string; tail?: Buffer[] } = {}): Buffer {
  const [first, ...others] = lines.map((line) => Buffer.from(line as string))
  const withCapabilities = Buffer.concat([
    first ?? Buffer.alloc(0),
    Buffer.from(`\0 ${options.capabilities ?? usual}`),
  ])
  const packets = [withCapabilities, ...others].map((line) => dataPacket(line))
  return Buffer.concat([...packets, FLUSH_PACKET, ...(options.tail ?? [])])
}

const read = (bytes: Buffer) => readPush(inChunks(bytes))

test('reads commands, capabilities, shallow lines and options, and leaves the pack', async () => {
  const pack = randomBytes(500)
  const tail = [dataPacket('ci.skip'), dataPacket('x=1\n'), FLUSH_PACKET, pack]
  const lines = [
    `${zero} ${a} refs/heads/new`,
    `${a} ${b} refs/heads/größe`,
    `${a} ${zero} refs/tags/old`,
    `shallow ${b}`,
  ]
  const push = await read(body(lines, { capabilities: `${usual} atomic push-options quiet`, tail }))
  assert.deepEqual(
    push.commands.map(({ ref, before, after, problem }) => [ref, before, after, problem]),
    [
      ['refs/heads/new', null, a, null],
      ['refs/heads/größe', a, b, null],
      ['refs/tags/old', a, null, null],
    ],
  )
  assert.deepEqual(push.capabilities, { reportStatus: true, sideband: true, quiet: true, atomic: true })
  assert.deepEqual(push.options, ['ci.skip', 'x=1'])
  assert.equal(push.expectsPack, true)
  assert.deepEqual(Buffer.concat(await Array.fromAsync(push.pack)), pack)
})

test('a push that only deletes has no pack, and a lone flush asks for nothing', async () => {
  assert.equal((await read(body([`${a} ${zero} refs/heads/old`]))).expectsPack, false)
  assert.deepEqual((await read(FLUSH_PACKET)).commands, [])
  assert.deepEqual((await read(Buffer.alloc(0))).commands, [])
})

test('refuses hostile names one by one and says why', async () => {
  const hostile = [
    'HEAD',
    'refs/heads',
    'refs/heads/../../x',
    'refs/heads/a.lock',
    'refs/heads/a b',
    '-x',
    'refs//x',
    'refs/heads/a~1',
    'refs/heads/.x',
    'refs/heads/x.',
    'refs/heads/@{',
    '/etc/passwd',
    `refs/heads/${'x'.repeat(2000)}`,
    'refs/heads/a\nb',
  ]
  const lines = [...hostile.map((name) => `${zero} ${a} ${name}`), `${zero} ${a} refs/heads/fine`]
  const { commands } = await read(body(lines))
  assert.deepEqual(
    commands.map((command) => command.problem),
    [...hostile.map(() => 'bad ref name'), null],
  )
  const latin1 = Buffer.concat([Buffer.from(`${zero} ${a} refs/heads/`), Buffer.from([0xe9])])
  const others = await read(
    body([latin1, `${zero} ${a} refs/heads/x`, `${zero} ${b} refs/heads/x`, `${zero} ${zero} refs/heads/y`]),
  )
  assert.deepEqual(
    others.commands.map((command) => command.problem),
    ['the name is not UTF-8', null, 'named twice in one push', 'nothing to create or delete'],
  )
  assert.deepEqual(others.commands[0]?.sent, latin1.subarray(82))
})

test('refuses a request that breaks the protocol or a bound', async () => {
  const line = `${zero} ${a} refs/heads/x`
  const refused = async (bytes: Buffer, message: RegExp) =>
    assert.rejects(read(bytes), (error) => error instanceof ProtocolError && message.test(error.message))
  await refused(body(['push-cert']), /signed/)
  await refused(body(['nonsense']), /bad push command/)
  await refused(body([`${zero} ${a.toUpperCase()} refs/heads/x`]), /bad push command/)
  await refused(body([`${zero} ${a} refs/heads/${'x'.repeat(60_000)}`]), /name is too long/)
  await refused(body([line, 'shallow me']), /shallow/)
  await refused(body([line], { capabilities: 'object-format=sha256' }), /SHA-1/)
  await refused(dataPacket(line), /does not end/)
  await refused(Buffer.concat([dataPacket(line), Buffer.from('0001')]), /does not end/)
  await refused(body(Array(100_001).fill(line)), /too many refs/)
  await refused(body([line, ...Array(100_000).fill(`shallow ${a}`)]), /too many refs/)
  await refused(body(Array(5000).fill(`${line}${'x'.repeat(8000)}`)), /too large/)
  const capabilities = 'push-options'
  const many = [...Array(65).fill(dataPacket('one')), FLUSH_PACKET]
  await refused(body([line], { capabilities, tail: many }), /too many push options/)
  const long = [dataPacket('x'.repeat(4097)), FLUSH_PACKET]
  await refused(body([line], { capabilities, tail: long }), /too long/)
  await refused(body([line], { capabilities }).subarray(0, -4), /does not end/)
})

test('random pushes give a push or a ProtocolError and nothing else', async () => {
  const lines = [
    `${zero} ${a} refs/heads/x\0push-options`,
    `${zero} ${a} refs/x`,
    `shallow ${a}`,
    'shallow',
    '',
    '\0',
    '\n',
  ]
  for (let round = 0; round < 1500; round++) {
    const parts = [
      ...lines.map((line) => dataPacket(line)),
      FLUSH_PACKET,
      Buffer.from('0001'),
      randomBytes(round % 100),
    ]
    const chosen = Array.from(
      { length: round % 7 },
      () => parts[Math.floor(Math.random() * parts.length)] as Buffer,
    )
    await read(Buffer.concat(chosen)).catch((error: unknown) =>
      assert.ok(error instanceof ProtocolError, String(error)),
    )
  }
})

test('reports each ref, in a side band when the client takes one', async () => {
  const { commands, capabilities } = await read(body([`${zero} ${a} refs/heads/x`, `${zero} ${a} bad`]))
  const results = commands.map((command) => ({
    command,
    error: command.problem && `${command.problem}\nsecond line`,
  }))
  const report = '000eunpack ok\n0014ok refs/heads/x\n0024ng bad bad ref name second line\n0000'
  const banded = formatPushReport({ capabilities, unpackError: null, results }).toString()
  assert.equal(banded, `${(report.length + 5).toString(16).padStart(4, '0')}\x01${report}0000`)
  const plain = { ...capabilities, sideband: false }
  assert.equal(formatPushReport({ capabilities: plain, unpackError: null, results }).toString(), report)
  assert.match(
    formatPushReport({ capabilities: plain, unpackError: 'broken', results: [] }).toString(),
    /^0012unpack broken\n0000$/,
  )
  assert.equal(
    formatPushReport({ capabilities: { ...plain, reportStatus: false }, unpackError: null, results }).length,
    0,
  )

  assert.equal(formatPushProgress(capabilities, 'half\n').toString(), '000a\x02half\n')
  assert.equal(formatPushProgress({ ...capabilities, quiet: true }, 'half\n').length, 0)
})

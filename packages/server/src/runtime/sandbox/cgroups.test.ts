import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtempDisposable, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { findControlGroups } from './cgroups.ts'

const limits = { memoryBytes: 1000, processes: 10 }

/** A machine as far as control groups go. What is written into files stays there, and does nothing. */
async function machine(cgroup: string, mounts: string[], folders: string[]) {
  const made = await mkdtempDisposable(join(tmpdir(), 'trellis-cgroups-'))
  await mkdir(join(made.path, 'proc/self'), { recursive: true })
  await writeFile(join(made.path, 'proc/self/cgroup'), cgroup)
  await writeFile(join(made.path, 'proc/self/mountinfo'), mounts.map((line) => `${line}\n`).join(''))
  for (const folder of folders) await mkdir(join(made.path, folder), { recursive: true })
  return made
}

const unified = '30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'

describe('control groups', () => {
  it('of the second version are made where the server was put, or beside it', async () => {
    const service = 'sys/fs/cgroup/system.slice/trellis.service'
    await using there = await machine(
      '0::/system.slice/trellis.service/server\n',
      [unified],
      // As if processes were in it: nothing can be handed on to groups below.
      [`${service}/server/cgroup.subtree_control`],
    )
    const groups = await findControlGroups(there.path)
    assert.deepEqual([groups.countsMemory, groups.countsProcesses], [true, true])
    const handedOn = readFileSync(join(there.path, service, 'cgroup.subtree_control'), 'utf8')
    assert.equal(handedOn, '+memory +pids')
    const group = await groups.open(limits)
    const [join1 = '', ...others] = group.joinFiles
    assert.deepEqual(others, [])
    assert.ok(join1.startsWith(join(there.path, service, 'trellis-sandbox-')))
    const file = (name: string) => join1.replace(/cgroup\.procs$/, name)
    assert.equal(readFileSync(file('memory.max'), 'utf8'), '1000')
    assert.equal(readFileSync(file('memory.swap.max'), 'utf8'), '0')
    assert.equal(readFileSync(file('pids.max'), 'utf8'), '10')
    await writeFile(file('memory.stat'), 'anon 512\nfile 2048\nshmem 1\n')
    await writeFile(file('memory.events'), 'low 0\noom 1\noom_kill 1\n')
    await writeFile(file('pids.events'), 'max 0\n')
    const counted = { memoryBytes: 512, wasOutOfMemory: true, wasOutOfProcesses: false }
    assert.deepEqual(await group.count(), counted)
    await group.giveWay()
    assert.equal(readFileSync(file('cpu.weight'), 'utf8'), '10')
  })

  it('of the first version are one for each thing that is counted', async () => {
    await using there = await machine(
      '8:pids:/\n4:memory:/user/session\n1:cpu,cpuacct:/\n0::/\n',
      [
        '31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
        '32 20 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
        '33 20 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct',
      ],
      ['sys/fs/cgroup/memory/user/session', 'sys/fs/cgroup/pids', 'sys/fs/cgroup/cpu,cpuacct'],
    )
    const groups = await findControlGroups(there.path)
    const { joinFiles, giveWay } = await groups.open(limits)
    assert.equal(joinFiles.length, 3)
    const memory = joinFiles.find((file) => file.includes('/memory/user/session/trellis-sandbox-')) ?? ''
    const limit = readFileSync(memory.replace(/cgroup\.procs$/, 'memory.limit_in_bytes'), 'utf8')
    assert.equal(limit, '1000')
    await giveWay()
    const processors = joinFiles.find((file) => file.includes('/cpu,cpuacct/')) ?? ''
    assert.equal(readFileSync(processors.replace(/cgroup\.procs$/, 'cpu.shares'), 'utf8'), '102')
  })

  it('are done without where none can be made', async () => {
    await using there = await machine('0::/\n', [unified], ['sys/fs/cgroup/cgroup.subtree_control'])
    const groups = await findControlGroups(there.path)
    assert.deepEqual([groups.countsMemory, groups.countsProcesses], [false, false])
    assert.deepEqual((await groups.open(limits)).joinFiles, [])
  })

  it('that a server left are removed, others are not', async () => {
    const left = 'sys/fs/cgroup/trellis-sandbox-left'
    const young = 'sys/fs/cgroup/trellis-sandbox-young'
    await using there = await machine('0::/\n', [unified], [left, young, 'sys/fs/cgroup/else'])
    const groups = await findControlGroups(there.path)
    const long = new Date(Date.now() - 3_600_000)
    for (const folder of [left, 'sys/fs/cgroup/else']) await utimes(join(there.path, folder), long, long)
    await groups.sweep()
    assert.ok(!existsSync(join(there.path, left)))
    assert.ok(existsSync(join(there.path, young)) && existsSync(join(there.path, 'sys/fs/cgroup/else')))
  })
})

// What processes in the sandbox may not ask of the kernel, as a program that the kernel runs for every system call
// (seccomp). Namespaces do not cover these, or they would hide memory from whoever counts it.

import { arch } from 'node:os'

/** Numbers by system: what Node calls x64, arm64. */
const NUMBERS = {
  // To look into other processes, which also means to take their descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  // Keys are of users, and not of namespaces.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Large parts of the kernel that tests and builds do not need. The second can make sockets past this filter.
  bpf: [321, 280],
  io_uring_setup: [425, 425],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  syslog: [103, 116],
} as const

/** Memory that belongs to no process, so that only a control group can count it. */
const UNCOUNTED = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
} as const

const SOCKET = [41, 198] as const
/** Unix, IPv4, IPv6, netlink: all of them end at the namespace. Others, as those of virtual machines, do not. */
const FAMILIES = [1, 2, 10, 16]
const ARCHITECTURES = [0xc000003e, 0xc00000b7] as const
/** From here on a number on x64 means another set of calls. */
const X32 = 0x40000000

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** Of classic BPF. The data it looks at are the number, the architecture and the arguments of a call. */
const [LOAD, EQUAL, AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06]
const [NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT] = [0, 4, 16]
const ALLOW = 0x7fff0000
const refuse = (error: number) => 0x00050000 | error

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** Where nobody has written the numbers down, everything is let through. */
export function systemCallFilter({ isMemoryCounted }: { isMemoryCounted: boolean }): Buffer {
  const system = ['x64', 'arm64'].indexOf(arch())
  const architecture = ARCHITECTURES[system]
  if (architecture === undefined) return bytesOf([RETURN, 0, 0, ALLOW])
  const refused = Object.values(isMemoryCounted ? NUMBERS : { ...NUMBERS, ...UNCOUNTED })
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, refuse(ENOSYS)],
    [LOAD, 0, 0, NUMBER_AT],
    [AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, refuse(ENOSYS)],
    ...refused.flatMap((numbers): Instruction[] => [
      [EQUAL, 0, 1, numbers[system] ?? 0],
      [RETURN, 0, 0, refuse(EPERM)],
    ]),
    [EQUAL, 1, 0, SOCKET[system] ?? 0],
    [RETURN, 0, 0, ALLOW],
    [LOAD, 0, 0, FIRST_ARGUMENT_AT],
    ...FAMILIES.flatMap((family): Instruction[] => [
      [EQUAL, 0, 1, family],
      [RETURN, 0, 0, ALLOW],
    ]),
    [RETURN, 0, 0, refuse(EAFNOSUPPORT)],
  ]
  return Buffer.concat(program.map(bytesOf))
}

function bytesOf([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}

// What a server and all that it starts leave on a machine.

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const read = (file: string): string => {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/** All that descends from a process. */
function descendants(pid: number): number[] {
  const found: number[] = []
  for (const children of globSync(`/proc/${pid}/task/*/children`))
    for (const child of read(children).split(' ').filter(Boolean).map(Number))
      found.push(child, ...descendants(child))
  return found
}

/** When a process began: its number may be another's by now. */
const beginning = (pid: number): string | undefined =>
  read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[19]

/** Looks every now and then at what a server has started. */
export function watchProcesses(server: number) {
  const seen = new Map<string, number>()
  const groups = new Set<string>()
  function look(): void {
    for (const pid of descendants(server)) {
      const began = beginning(pid)
      if (began !== undefined) seen.set(`${pid} ${began}`, pid)
      for (const [name] of read(`/proc/${pid}/cgroup`).matchAll(/trellis-sandbox-\w+/g)) groups.add(name)
    }
  }
  const timer = setInterval(look, 250)
  const isThere = ([key, pid]: [string, number]) => key === `${pid} ${beginning(pid)}`
  return {
    look,
    stop: () => clearInterval(timer),
    /** Of what was seen, the processes that are still there, as they were started. */
    left: () =>
      [...seen].filter(isThere).map(([, pid]) => read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()),
    /** Of what was seen, the control groups that are still there. */
    groupsLeft: () => [...groups].filter((name) => groupNames().has(name)),
    groups,
  }
}

const groupNames = () =>
  new Set(globSync('/sys/fs/cgroup/**/trellis-sandbox-*').map((path) => path.split('/').at(-1)))

/** Names of all files below a directory. */
export const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))

import type { Runtime } from '@trellis/contract'
import type { Db } from '../schema.ts'
import type { ExtensionDescriptor } from './descriptor-schema.ts'
import { effectiveCapabilities } from './granting.ts'
import * as store from './store.ts'
import type { SoundExtension } from './surveys.ts'

/** An extension at a commit, with all that has to be known to run it. */
export interface Runnable {
  name: string
  runtime: Runtime
  commit: string
  moduleHash: string
  /** May be run on request. */
  dispatch: boolean
  /** What it asks for, and what of that it was given. */
  capabilities: readonly string[]
  effective: readonly string[]
  /** JSON. */
  inputSchema: string | undefined
  outputSchema: string | undefined
  canonicalCommit: string | null
  canonicalDescriptorHash: string | null
  canonicalGrantHash: string | null
}

/** Those of the canonical commit. */
export async function readRunnables(
  q: Db,
  repoId: string,
  names: readonly string[],
): Promise<Map<string, Runnable>> {
  const { commit, extensions } = await store.readCanonical(q, repoId, names)
  if (!commit) return new Map()
  return new Map(extensions.map((row) => [row.name, canonicalRunnable(row, commit)]))
}

export function canonicalRunnable(row: store.CanonicalExtensionRow, commit: string): Runnable {
  const descriptor = JSON.parse(row.descriptor) as ExtensionDescriptor
  return {
    ...declaredIn(descriptor),
    name: row.name,
    commit,
    moduleHash: row.module_hash,
    effective: JSON.parse(row.granted),
    ...canonicalHashes(commit, row),
  }
}

export function runnableAt(
  { name, descriptor, moduleHash }: SoundExtension,
  {
    commit,
    canonical,
    inForce,
  }: { commit: string; canonical: string | undefined; inForce: store.CanonicalExtensionRow | undefined },
): Runnable {
  const declared = declaredIn(descriptor)
  const granted = inForce ? (JSON.parse(inForce.granted) as string[]) : []
  return {
    ...declared,
    name,
    commit,
    moduleHash,
    effective: effectiveCapabilities(declared.capabilities, granted),
    ...canonicalHashes(canonical, inForce),
  }
}

function declaredIn({
  runtime = 'worker',
  dispatch = false,
  capabilities = [],
  ...rest
}: ExtensionDescriptor) {
  return {
    runtime,
    dispatch,
    capabilities,
    inputSchema: rest.inputSchema && JSON.stringify(rest.inputSchema),
    outputSchema: rest.outputSchema && JSON.stringify(rest.outputSchema),
  }
}

const canonicalHashes = (commit: string | undefined, row: store.CanonicalExtensionRow | undefined) => ({
  canonicalCommit: commit ?? null,
  canonicalDescriptorHash: row?.descriptor_hash ?? null,
  canonicalGrantHash: row?.grant_hash ?? null,
})

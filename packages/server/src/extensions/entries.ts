import type { ExtensionEntry, RecordSchema, Runtime } from '@trellis/contract'
import { schemaHash } from '../records/schema-hash.ts'
import { BUNDLER_VERSION } from './builder.ts'
import type { DeclaredRecord } from './descriptor-schema.ts'
import { effectiveCapabilities } from './granting.ts'
import type { Canonical } from './store.ts'
import type { SoundExtension } from './surveys.ts'

/** The schema of a record as it is answered and hashed: what may be dropped with it is no part of it. */
function recordSchemaOf({ name, fields, indexes, hooks = {} }: DeclaredRecord): RecordSchema {
  return { name, fields, ...(indexes && { indexes }), hooks }
}

/** An extension at some commit, beside what is canonical. */
export function presentExtension(
  extension: SoundExtension,
  { commit, canonical, runtimes }: { commit: string; canonical: Canonical; runtimes: ReadonlySet<Runtime> },
): ExtensionEntry {
  const { name, path, descriptor, modulePath, descriptorPath, moduleHash, descriptorHash } = extension
  const { runtime = 'worker', capabilities = [], dispatch = false, record } = descriptor
  const own = canonical.extensions.find((row) => row.name === name)
  // A record may have belonged to another extension.
  const inForce = record ? canonical.extensions.find(({ record_name }) => record_name === record.name) : own
  const granted = own ? (JSON.parse(own.granted) as string[]) : []
  return {
    version: descriptor.version,
    name,
    ...(descriptor.description !== undefined && { description: descriptor.description }),
    path,
    modulePath,
    descriptorPath,
    moduleHash,
    descriptorHash,
    runtime,
    capabilities,
    dispatch,
    ...(descriptor.inputSchema && { inputSchema: descriptor.inputSchema }),
    ...(descriptor.outputSchema && { outputSchema: descriptor.outputSchema }),
    ...(record && { record: recordSchemaOf(record) }),
    on: descriptor.on ?? {},
    bundlerVersion: BUNDLER_VERSION,
    commitSha: commit,
    dispatchable: dispatch && runtimes.has(runtime),
    effectiveCapabilities: effectiveCapabilities(capabilities, granted),
    canonicalDescriptorHash: own?.descriptor_hash ?? null,
    canonicalGrantHash: own?.grant_hash ?? null,
    canonicalSchemaHash: inForce?.schema_hash ?? null,
    schemaAhead: (record ? schemaHash(record) : null) !== (inForce?.schema_hash ?? null),
    canonical: own?.descriptor_hash === descriptorHash && own.module_hash === moduleHash,
  }
}

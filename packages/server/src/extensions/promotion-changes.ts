import { canonicalJson } from '../platform/hashes.ts'
import type { ExtensionDescriptor } from './descriptor-schema.ts'
import type { CanonicalExtensionRow } from './store.ts'

type Change = 'added' | 'changed' | 'removed'

/** What a promotion did to one extension. What is left out is as it was. */
export interface ExtensionChange {
  extension: string
  change: Change
  /** Whether other code runs. */
  module?: true
  grants?: { added: string[]; removed: string[] }
  /** The record it declares; null on the side where it declares none. */
  schema?: { before: DeclaredSchema | null; after: DeclaredSchema | null }
  /** What starts it by itself. */
  trigger?: Change
  daemon?: Change
}

interface DeclaredSchema {
  record: string
  schemaHash: string
}

interface PromotionChanges {
  changes: ExtensionChange[]
  /** There are more than it lists. */
  changesTruncated: boolean
}

/** An event is written for every webhook's sake too, and read by the page. One extension alone never has more. */
const LISTED_CHARACTERS = 64 * 1024

/** What is in force after a promotion and was not before, or the other way round. By the names of the extensions. */
export function changesBetween(
  before: readonly CanonicalExtensionRow[],
  after: readonly CanonicalExtensionRow[],
): PromotionChanges {
  const old = new Map(before.map((row) => [row.name, row]))
  const now = new Map(after.map((row) => [row.name, row]))
  const changes: ExtensionChange[] = []
  let characters = 0
  for (const name of [...new Set([...old.keys(), ...now.keys()])].toSorted()) {
    const change = changeOf(name, old.get(name), now.get(name))
    if (!change) continue
    characters += JSON.stringify(change).length
    if (characters > LISTED_CHARACTERS) return { changes, changesTruncated: true }
    changes.push(change)
  }
  return { changes, changesTruncated: false }
}

function changeOf(
  extension: string,
  before: CanonicalExtensionRow | undefined,
  after: CanonicalExtensionRow | undefined,
): ExtensionChange | undefined {
  const change = changed(before?.descriptor_hash, after?.descriptor_hash)
  const hasOtherModule = before?.module_hash !== after?.module_hash
  if (!change && !hasOtherModule) return undefined
  const [old, now] = [grantsOf(before), grantsOf(after)]
  const grants = {
    added: now.filter((capability) => !old.includes(capability)),
    removed: old.filter((capability) => !now.includes(capability)),
  }
  const schema = { before: schemaOf(before), after: schemaOf(after) }
  const [declaredBefore, declaredAfter] = [descriptorOf(before), descriptorOf(after)]
  const trigger = changed(jsonOf(declaredBefore?.on), jsonOf(declaredAfter?.on))
  const daemon = changed(jsonOf(declaredBefore?.daemon), jsonOf(declaredAfter?.daemon))
  return {
    extension,
    change: change ?? 'changed',
    ...(hasOtherModule && { module: true }),
    ...((grants.added.length > 0 || grants.removed.length > 0) && { grants }),
    ...(canonicalJson(schema.before) !== canonicalJson(schema.after) && { schema }),
    ...(trigger && { trigger }),
    ...(daemon && { daemon }),
  }
}

function changed(before: string | undefined, after: string | undefined): Change | undefined {
  if (before === after) return undefined
  return before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
}

const grantsOf = (row: CanonicalExtensionRow | undefined): string[] =>
  row ? (JSON.parse(row.granted) as string[]) : []

const schemaOf = (row: CanonicalExtensionRow | undefined): DeclaredSchema | null =>
  row?.record_name && row.schema_hash ? { record: row.record_name, schemaHash: row.schema_hash } : null

const descriptorOf = (row: CanonicalExtensionRow | undefined): ExtensionDescriptor | undefined =>
  row && (JSON.parse(row.descriptor) as ExtensionDescriptor)

/** Nothing in it is as good as not being there. */
const jsonOf = (value: object | undefined): string | undefined =>
  value && Object.keys(value).length > 0 ? canonicalJson(value) : undefined

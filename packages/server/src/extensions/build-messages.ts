// What the server and the process that builds say to each other.

import type { Runtime } from '@trellis/contract'

export interface BuildOrder {
  order: number
  /** The path of the module in the commit. */
  entry: string
  runtime: Runtime
}

/** Asked while building: what `specifier` means in the file `importer`, or what is at `specifier` without one. */
interface FileQuestion {
  order: number
  question: number
  importer?: string
  specifier: string
}

export interface FileAnswer {
  question: number
  /** With its contents the first time. */
  file?: { path: string; contents?: Uint8Array }
  /** Why there is none. */
  problem?: string
}

export interface BuildMessage {
  text: string
  file?: string
  line?: number
  column?: number
}

export interface BuildReport {
  order: number
  bundle?: { code: Uint8Array; sourceMap: Uint8Array }
  messages?: BuildMessage[]
}

export type ToBuilder = BuildOrder | FileAnswer
export type FromBuilder = { ready: string } | FileQuestion | BuildReport

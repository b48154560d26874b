// What is kept, as the descriptors declare it.

export interface Test {
  commit: string
  ref: string
  outcome: 'passed' | 'failed'
  /** Absent when a signal ended them. */
  exitCode?: number
  durationMs: number
  /** The end of what they said. */
  output: string
}

import type { ServerResponse } from 'node:http'

/** Smaller ones fit into what the kernel keeps for a connection, or nearly. */
export const LARGE_ANSWER = 256 * 1024

export type UntakenAnswers = ReturnType<typeof createUntakenAnswers>

/**
 * Keeps the large answers that their clients have not taken yet within `maxBytes`, however many are asked for and left
 * lying: when they become more, whoever has let theirs wait for the longest is hung up on.
 */
export function createUntakenAnswers({ maxBytes, onCut }: { maxBytes: number; onCut(): void }) {
  /** The oldest comes first. */
  const waiting = new Map<ServerResponse, number>()
  let held = 0

  function forget(response: ServerResponse): void {
    held -= waiting.get(response) ?? 0
    waiting.delete(response)
  }

  return {
    /** Call it before the answer is sent. */
    note(response: ServerResponse, bytes: number): void {
      for (const oldest of waiting.keys()) {
        if (held + bytes <= maxBytes) break
        forget(oldest)
        oldest.destroy()
        onCut()
      }
      held += bytes
      waiting.set(response, bytes)
      // Taken, or the connection is gone.
      response.once('close', () => forget(response))
    },
  }
}

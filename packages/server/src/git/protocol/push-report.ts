// What a client is told at the end of a push.

import { dataPacket, FLUSH_PACKET, sideband } from './pkt-line.ts'
import type { PushCapabilities, PushCommand } from './push-request.ts'

interface PushResult {
  command: PushCommand
  /** Why this ref did not move; null when it did. */
  error: string | null
}

interface PushReport {
  capabilities: PushCapabilities
  /** Why the pack was not taken; null when it was, or when there was none. */
  unpackError: string | null
  results: readonly PushResult[]
}

/** The end of the response. What came before it, if anything, was progress in side band packets. */
export function formatPushReport({ capabilities, unpackError, results }: PushReport): Buffer {
  // Version 2 of the report only adds lines for refs that the server moved differently, which never happens here.
  const lines = [
    dataPacket(`unpack ${unpackError === null ? 'ok' : oneLine(unpackError)}\n`),
    ...results.map(({ command, error }) => {
      const [word, reason] = error === null ? ['ok ', ''] : ['ng ', ` ${oneLine(error)}`]
      return dataPacket(Buffer.concat([Buffer.from(word), command.sent, Buffer.from(`${reason}\n`)]))
    }),
    FLUSH_PACKET,
  ]
  const report = capabilities.reportStatus ? Buffer.concat(lines) : Buffer.alloc(0)
  return capabilities.sideband ? Buffer.concat([...sideband('data', report), FLUSH_PACKET]) : report
}

/** Shown as "remote: …" to a person who watches; a client that does not show progress asks for quiet. */
export function formatPushProgress(capabilities: PushCapabilities, text: string | Uint8Array): Buffer {
  const isShown = capabilities.sideband && !capabilities.quiet
  return isShown ? Buffer.concat([...sideband('progress', text)]) : Buffer.alloc(0)
}

/**
 * Says nothing, so that whoever is in between does not take the silence for an end. As progress: git itself sends empty
 * data instead, which isomorphic-git takes for the end of the report.
 */
export const keepAlive = ({ sideband }: PushCapabilities): Buffer =>
  sideband ? EMPTY_PROGRESS : Buffer.alloc(0)

const EMPTY_PROGRESS = Buffer.from('0005\x02', 'latin1')

const MAX_REASON = 400

function oneLine(reason: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the line or move the cursor
  return reason.replace(/[\x00-\x1f\x7f]+/g, ' ').slice(0, MAX_REASON)
}

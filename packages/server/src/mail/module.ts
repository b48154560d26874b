import { createBell } from '../background/bell.ts'
import type { Base, Module } from '../modules.ts'
import type { Throttles } from '../platform/throttles.ts'
import { createSealer } from '../secrets/sealing.ts'
import { createMailCounter } from './metrics.ts'
import { sendLetters } from './sending.ts'
import { createMailService } from './service.ts'
import { createSmtpTransport } from './transport.ts'

/** Where no server for mail is configured there is no service: links are shown to whoever may hand them over. */
export function createMailModule(needs: Base & { throttles: Throttles }) {
  const { config, baseUrl, serverKey, registry } = needs
  const { smtpUrl, from = `trellis@${new URL(baseUrl).hostname}` } = config.mail
  if (!smtpUrl) return { services: { mail: undefined }, work: [] } satisfies Module
  const bell = createBell()
  const sealer = createSealer(serverKey, 'mail')
  const transport = createSmtpTransport({ url: smtpUrl, from })
  const mail = createMailService({ ...needs, sealer, bell })
  const work = [sendLetters({ ...needs, sealer, transport, bell, count: createMailCounter(registry) })]
  return { services: { mail }, work } satisfies Module
}

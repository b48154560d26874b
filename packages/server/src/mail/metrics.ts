import { Counter, type Registry } from 'prom-client'

export type CountMail = (outcome: 'sent' | 'failed' | 'given_up' | 'expired') => void

/** How sending goes, for Prometheus. */
export function createMailCounter(registry: Registry): CountMail {
  const letters = new Counter({
    name: 'trellis_mail_total',
    help: 'Attempts to send a letter, by how they ended: sent, failed and tried again, given up, or expired before',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => letters.inc({ outcome })
}

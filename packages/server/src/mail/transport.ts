import type { Letter } from './service.ts'

/** Hands letters to the server that delivers them. */
export interface Transport {
  send(letter: Omit<Letter, 'endsAt'> & { id: string }): Promise<void>
}

/** For each step of the conversation; a letter is small. */
const PATIENCE_MS = 20_000

/** Passwords are not said in the clear: a server that is told one has to offer encryption. */
export function createSmtpTransport({ url, from }: { url: string; from: string }): Transport {
  const { protocol, hostname, port, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  const hasPassword = username !== '' || password !== ''
  const domain = from.slice(from.lastIndexOf('@') + 1)

  async function connect() {
    // Most servers never send a letter, and need not load what does.
    const { createTransport } = await import('nodemailer')
    return createTransport({
      host: hostname.replaceAll(/[[\]]/g, ''),
      port: Number(port) || (secure ? 465 : 587),
      secure,
      ...(hasPassword && {
        auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
        requireTLS: true,
      }),
      // Without one, as with a relay on the same machine, a certificate that nobody knows does no harm.
      opportunisticTLS: !hasPassword,
      connectionTimeout: PATIENCE_MS,
      greetingTimeout: PATIENCE_MS,
      socketTimeout: PATIENCE_MS,
      dnsTimeout: PATIENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
  let connected: ReturnType<typeof connect> | undefined

  return {
    async send({ id, to, subject, text }) {
      connected ??= connect()
      await (await connected).sendMail({
        from: { name: 'Trellis', address: from },
        to: { name: '', address: to },
        subject,
        text,
        // The same for every attempt: should one be heard of twice, it is one letter.
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    },
  }
}

/** Whether trying again would be told the same: there is no such recipient. */
export function isRefusedForGood(error: unknown): boolean {
  const { responseCode, command } = error as { responseCode?: number; command?: string }
  return responseCode !== undefined && responseCode >= 500 && command?.startsWith('RCPT') === true
}

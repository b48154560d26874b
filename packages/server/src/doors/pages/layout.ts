import type { OutgoingHttpHeaders } from 'node:http'
import { type Exchange, send } from '../http/exchange.ts'
import { type Html, html } from './html.ts'

/** For pages: a stylesheet and forms of our own, no scripts, no frames, nothing from elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
/** For those that have a script: one of our own, which asks nobody but us. */
const SCRIPT_POLICY = `${POLICY}; script-src 'self'; connect-src 'self'`

interface Page {
  title: string
  body: Html
  /** The path of a script. Whatever can be done without it is. */
  script?: string
}

export function sendPage(
  exchange: Exchange,
  status: number,
  { title, body, script }: Page,
  headers?: OutgoingHttpHeaders,
): void {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Trellis</title>
<link rel="stylesheet" href="/page.css">
${script ? html`<script type="module" src="${script}"></script>` : ''}
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  send(exchange, status, 'text/html; charset=utf-8', page.text, {
    'content-security-policy': script ? SCRIPT_POLICY : POLICY,
    // Under no-referrer a browser hides from us too that a form comes from our own page.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    ...headers,
  })
}

export function redirect(exchange: Exchange, location: string, headers?: OutgoingHttpHeaders): void {
  send(exchange, 303, 'text/plain; charset=utf-8', '', { location, 'cache-control': 'no-store', ...headers })
}

/** What was wrong with the form that was sent, if anything. */
export const problemNote = (problem: string | undefined): Html | string =>
  problem ? html`<p class="problem" role="alert">${problem}</p>` : ''

export const newPasswordField = html`<label>Password, of ten characters or more
<input type="password" name="password" autocomplete="new-password" minlength="10" maxlength="256" required></label>`

/** A time as people read it. */
export const readable = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

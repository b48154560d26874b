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

export const pageCss = `
:root {
  color-scheme: light dark;
  --line: light-dark(#999, #666); --soft: light-dark(#f5f5f4, #1c1c1c);
  --care: light-dark(#fff3dc, #33240a); --wrong: light-dark(#fde8e8, #3b1212); --act: light-dark(#1d4ed8, #2563eb);
}
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
form { display: grid; gap: .6rem; } label { display: grid; gap: .2rem; }
input, button { font: inherit; padding: .5rem .6rem; border: 1px solid var(--line); border-radius: 6px; }
button { cursor: pointer; font-weight: 600; color: #fff; background: var(--act); border-color: var(--act); }
:focus-visible { outline: 3px solid #d97706; outline-offset: 2px; }
.code { font: 1.6rem ui-monospace, monospace; letter-spacing: .4rem; width: 12rem; }
.warning { border: 2px solid #d97706; border-radius: 6px; padding: .8rem 1rem; background: var(--care); }
.warning strong { display: block; font-size: 1.1rem; }
.problem { border: 2px solid #dc2626; border-radius: 6px; padding: .5rem 1rem; background: var(--wrong); }
pre { font: .9rem/1.5 ui-monospace, monospace; background: var(--soft); padding: .8rem; border-radius: 6px; overflow-wrap: anywhere; white-space: pre-wrap; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; }
`

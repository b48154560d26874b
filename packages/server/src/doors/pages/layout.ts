import type { OutgoingHttpHeaders } from 'node:http'
import { type Exchange, send } from '../http/exchange.ts'
import { type Html, html } from './html.ts'
import { mark } from './mark.ts'

/** For pages: a stylesheet, fonts, forms and scripts of our own, no frames, nothing from elsewhere. */
const POLICY = [
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'",
  "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
].join('; ')
/** For those whose script asks for something: nobody but us. */
const ASKING_POLICY = `${POLICY}; connect-src 'self'`

interface Page {
  title: string
  body: Html
  /** The path of a script. Whatever can be done without it is. */
  script?: string
  /** Of a person's account: the tabs of those above it, by their paths, and which of them it is. */
  tabs?: { all: Readonly<Record<string, string>>; current: string }
}

export function sendPage(
  exchange: Exchange,
  status: number,
  { title, body, script, tabs }: Page,
  headers?: OutgoingHttpHeaders,
): void {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Trellis</title>
<link rel="icon" type="image/svg+xml" href="/icon.svg">
<link rel="stylesheet" href="/page.css">
<script src="/theme.js"></script>
${script ? html`<script type="module" src="${script}"></script>` : ''}
</head>
<body>
<header class="bar"><a href="/">${mark}Trellis</a></header>
${tabs ? accountHead(tabs) : ''}
<main${tabs ? html` class="wide"` : ''}>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  send(exchange, status, 'text/html; charset=utf-8', page.text, {
    'content-security-policy': script ? ASKING_POLICY : POLICY,
    // Under no-referrer a browser hides from us too that a form comes from our own page.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    ...headers,
  })
}

const accountHead = ({
  all,
  current,
}: NonNullable<Page['tabs']>): Html => html`<nav class="head" aria-label="Account">
<p>Your account</p>
<div>${Object.entries(all).map(
  ([path, label]) =>
    html`<a href="${path}"${path === current ? html` aria-current="page"` : ''}>${label}</a>`,
)}</div>
</nav>`

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

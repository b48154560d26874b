import { encode } from 'uqr'
import { Html, html } from '../html.ts'
import { SECURITY_PATH } from './visitor.ts'

interface Begun {
  totpURI: string
  backupCodes: string[]
}

/** More than is ever made; a QR code holds about as much. */
const LONGEST_KEY = 1000

/** Asked for where there is one: who came with a provider has none. */
const passwordField = (hasPassword: boolean): Html =>
  hasPassword
    ? html`<label>Your password <input type="password" name="password" autocomplete="current-password" required></label>`
    : html``

const form = (field: Html, action: string, content: Html): Html =>
  html`<form method="post" action="${SECURITY_PATH}">${field}<input type="hidden" name="action" value="${action}">
${content}</form>`

/** Two-factor sign-in as it is, and what one can do about it. */
export function twoFactorSection(
  field: Html,
  { isOn, hasPassword }: { isOn: boolean; hasPassword: boolean },
) {
  const password = passwordField(hasPassword)
  if (!isOn)
    return html`<p>Off. With it, whoever learns your password still needs your phone to sign in.</p>
${form(field, 'begin', html`${password}<button>Set up an authenticator app</button>`)}`
  return html`<p>On. Signing in asks for a code, unless it is with a passkey.</p>
${form(field, 'codes', html`${password}<button class="second">Make new backup codes</button>`)}
${form(field, 'off', html`${password}<button class="second">Turn off two-factor sign-in</button>`)}`
}

/** What the app needs, what to write down, and the proof that the app has it. */
export const setUp = (field: Html, { totpURI, backupCodes }: Begun): Html => html`<ol class="steps">
<li><p>Scan this with your authenticator app, or type the key into it:</p>
${qrCode(totpURI)}
<p><code class="key">${new URL(totpURI).searchParams.get('secret') ?? ''}</code></p></li>
<li><p>Store these backup codes where you will find them without your phone. Each works once.</p>
${codeList(backupCodes)}</li>
<li>${confirming(field, { totpURI, backupCodes })}</li>
</ol>`

/** Carries along what is shown, so that it is still there after a code that was wrong: the server shows it once. */
const confirming = (field: Html, { totpURI, backupCodes }: Begun): Html =>
  form(
    field,
    'confirm',
    html`<input type="hidden" name="key" value="${totpURI}">
<input type="hidden" name="backup" value="${backupCodes.join(' ')}">
<label>The six digits your app shows
<input class="code" name="code" inputmode="numeric" pattern="[0-9 ]{6,7}" maxlength="7" autocomplete="one-time-code" required></label>
<button>Turn on two-factor sign-in</button>`,
  )

/** What the page of before carried along; undefined when it was not our page. */
export function begunIn(fields: URLSearchParams): Begun | undefined {
  const totpURI = fields.get('key') ?? ''
  const isWhole =
    totpURI.startsWith('otpauth://totp/') && totpURI.length <= LONGEST_KEY && URL.canParse(totpURI)
  return isWhole ? { totpURI, backupCodes: (fields.get('backup') ?? '').split(' ') } : undefined
}

export const codeList = (codes: string[]): Html => html`<pre>${codes.join('\n')}</pre>`

/** Dark on light whatever the page is, with the margin that cameras need. */
function qrCode(text: string): Html {
  const { data, size } = encode(text, { border: 4 })
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : [])))
  return new Html(
    `<svg class="qr" role="img" aria-label="QR code of the key" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
      `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${squares.join('')}"/></svg>`,
  )
}

import { themeCss } from './theme.ts'

/** Of all pages but the reference: as the console looks, so that nobody notices where one ends and the other begins. */
export const pageCss = `${themeCss}
.bar { display: flex; align-items: center; height: 48px; padding: 0 24px; border-bottom: 1px solid var(--hairline); }
.bar a { display: flex; align-items: center; gap: 8px; padding: 4px; margin-left: -4px; color: var(--ink); font-weight: 600; text-decoration: none; }
.bar svg { fill: none; stroke: var(--act); stroke-width: 1.6; stroke-linecap: round; }
.head { padding: 4px 16px 0; border-bottom: 1px solid var(--hairline); }
.head p { margin: 0; padding: 12px 8px 8px; font-size: 20px; font-weight: 600; line-height: 1.5; }
.head div { display: flex; gap: 4px; overflow-x: auto; scrollbar-width: none; }
.head div a { position: relative; flex: none; height: 36px; padding: 0 8px; line-height: 36px; color: var(--dim); text-decoration: none; }
.head div a:hover { color: var(--ink); } .head div a:focus-visible { outline-offset: -2px; }
.head div a[aria-current] { color: var(--ink); font-weight: 500; }
.head div a[aria-current]::after { content: ''; position: absolute; inset: auto 8px 0; height: 2px; border-radius: 2px 2px 0 0; background: var(--act); }
main { max-width: 28rem; margin: 0 auto; padding: 48px 16px 64px; }
main.wide { max-width: 1280px; padding: 24px 24px 64px; } main.wide > * { max-width: 35rem; }
h1 { font-size: 20px; line-height: 1.3; font-weight: 600; letter-spacing: -.01em; margin: 0 0 16px; }
h2 { font-size: 16px; line-height: 1.3; font-weight: 600; letter-spacing: -.01em; margin: 32px 0 8px; }
p { margin: 8px 0; } strong { font-weight: 600; }
form, .form { display: grid; gap: 16px; margin: 16px 0; } label { display: grid; gap: 4px; font-weight: 500; } label > * { font-weight: 400; }
form:empty, .form[hidden] { display: none; }
button, .button { font: inherit; font-weight: 500; min-height: 36px; padding: 6px 12px; border: 1px solid var(--act); border-radius: 6px; cursor: pointer; color: var(--on-act); background: var(--act); }
button.second, .button { color: var(--ink); background: var(--raised); border-color: var(--line); }
button.second:hover, .button:hover { background: var(--hover); border-color: var(--edge); }
button:disabled { cursor: progress; opacity: .7; }
.button { display: block; text-align: center; text-decoration: none; margin: 8px 0; }
.wide form > button, .wide .form > button { justify-self: start; }
[data-passkey=sign-in] > button { width: 100%; }
.choice { display: flex; gap: 8px; align-items: center; font-weight: 400; }
.code { font: 22px var(--mono); letter-spacing: .2em; max-width: 18rem; }
.warning { border: 1px solid var(--care-edge); border-radius: 8px; padding: 12px 16px; background: var(--care); }
.warning strong { display: block; font-size: 16px; }
.problem { border: 1px solid var(--wrong-edge); border-radius: 8px; padding: 8px 16px; background: var(--wrong); }
.done { border: 1px solid var(--line); border-radius: 8px; padding: 8px 16px; background: var(--soft); }
dl { margin: 16px 0; } dt { color: var(--dim); font-size: 12px; } dd { margin: 0 0 12px; overflow-wrap: anywhere; }
.rows { list-style: none; margin: 12px 0; padding: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); }
.rows li { display: flex; gap: 16px; align-items: center; justify-content: space-between; padding: 8px 12px; overflow-wrap: anywhere; } .rows li + li { border-top: 1px solid var(--hairline); }
.rows form { margin: 0; flex: none; } .rows button, .rows .button { min-height: 28px; padding: 2px 8px; margin: 0; font-size: 13px; }
.steps { padding-left: 20px; } .steps > li { margin-bottom: 24px; }
.qr { width: 208px; height: 208px; border-radius: 6px; } .key { overflow-wrap: anywhere; }
@media (max-width: 40rem) { .bar { padding: 0 16px; } .head { padding: 4px 8px 0; } main { padding-top: 24px; } main.wide { padding: 16px 16px 48px; } }
@media (pointer: coarse) { button, .button, .rows button, .rows .button { min-height: 44px; } }
`

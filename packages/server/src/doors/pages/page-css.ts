import { themeCss } from './theme.ts'

/** Of all pages but the reference. */
export const pageCss = `${themeCss}
main { max-width: 34rem; margin: 48px auto; padding: 0 16px; }
h1 { font-size: 20px; line-height: 1.3; } h2 { font-size: 16px; margin: 32px 0 8px; }
form, .form { display: grid; gap: 12px; margin: 12px 0; } label { display: grid; gap: 4px; }
form:empty, .form[hidden] { display: none; }
button { font: inherit; font-weight: 600; min-height: 36px; padding: 6px 12px; border: 1px solid var(--act); border-radius: 6px; cursor: pointer; color: var(--on-act); background: var(--act); }
button.second, .button { color: var(--ink); background: var(--paper); border-color: var(--edge); }
button:disabled { cursor: progress; opacity: .7; }
.button { display: block; text-align: center; text-decoration: none; font-weight: 600; padding: 7px 12px; margin: 8px 0; border: 1px solid var(--edge); border-radius: 6px; }
[data-passkey=sign-in] > button { width: 100%; }
.choice { display: flex; gap: 8px; align-items: center; }
.code { font: 22px var(--mono); letter-spacing: .2em; max-width: 18rem; }
.warning { border: 1px solid var(--care-edge); border-radius: 6px; padding: 12px 16px; background: var(--care); }
.warning strong { display: block; font-size: 16px; }
.problem { border: 1px solid var(--wrong-edge); border-radius: 6px; padding: 8px 16px; background: var(--wrong); }
dt { font-weight: 600; } dd { margin: 0 0 8px; }
.rows { list-style: none; margin: 12px 0; padding: 0; } .rows li { display: flex; gap: 16px; align-items: center; justify-content: space-between; padding: 8px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.rows form { margin: 0; flex: none; } .steps { padding-left: 20px; } .steps > li { margin-bottom: 24px; }
.qr { width: 208px; height: 208px; border-radius: 6px; } .key { overflow-wrap: anywhere; }
@media (max-width: 40rem) { main { margin: 24px auto; } button { min-height: 44px; } }
`

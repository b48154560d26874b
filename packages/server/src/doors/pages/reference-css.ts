import { themeCss } from './theme.ts'

export const referenceCss = `${themeCss}
body { display: grid; grid-template-columns: 18rem minmax(0, 1fr); }
.skip { position: absolute; left: -999px; } .skip:focus { left: 16px; top: 8px; z-index: 1; padding: 4px 8px; background: var(--paper); }
.side { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 16px; border-right: 1px solid var(--line); }
.side h1 { font-size: 20px; margin: 0 0 12px; } .side header p { margin: 0 0 12px; }
.side label { display: grid; gap: 4px; } .side input { width: 100%; }
nav h2 { font-size: 12px; margin: 16px 0 4px; color: var(--dim); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 2px 0; font-size: 13px; text-decoration: none; overflow-wrap: anywhere; }
nav a:hover { text-decoration: underline; }
main { padding: 16px 32px 96px; max-width: 64rem; }
main h2 { font-size: 20px; margin: 32px 0 8px; }
section { border-top: 1px solid var(--line); padding: 16px 0; scroll-margin-top: 8px; }
section h3 { font: 600 14px var(--mono); margin: 0; overflow-wrap: anywhere; } section h3 a { color: inherit; text-decoration: none; }
section h3 a:hover { text-decoration: underline; }
section:target { background: linear-gradient(90deg, var(--soft), transparent); }
summary { cursor: pointer; padding: 4px 0; }
table { border-collapse: collapse; width: 100%; font-size: 13px; } th { text-align: left; font-weight: 600; }
th, td { padding: 4px 12px 4px 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td pre { margin: 0; padding: 2px 6px; }
@media (max-width: 50rem) {
  body { display: block; } main { padding: 16px; }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  nav { max-height: 40vh; overflow: auto; } nav a { padding: 8px 0; }
  table, tbody, tr, td { display: block; } thead { position: absolute; left: -999px; } td { border: 0; padding: 0; } tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
}
`

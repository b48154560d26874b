/**
 * The colours of all pages: warm greys, one green for what one can do, and status colours for nothing but status. Text
 * has the contrast of AAA on its ground, everything else that of AA. Dark is chosen, not inverted.
 */
export const themeCss = `
:root {
  color-scheme: light dark;
  --paper: light-dark(oklch(99% .003 75), oklch(19% .005 75));
  --soft: light-dark(oklch(96.5% .005 75), oklch(24% .006 75));
  --line: light-dark(oklch(87% .007 75), oklch(36% .008 75));
  --edge: light-dark(oklch(58% .01 75), oklch(60% .01 75));
  --ink: light-dark(oklch(24% .01 75), oklch(93% .006 75));
  --dim: light-dark(oklch(42% .01 75), oklch(78% .008 75));
  --act: light-dark(oklch(41% .1 155), oklch(82% .13 155));
  --on-act: light-dark(oklch(99% .003 75), oklch(20% .03 155));
  --care: light-dark(oklch(96% .04 85), oklch(28% .045 75));
  --wrong: light-dark(oklch(96% .025 25), oklch(27% .06 25));
  --care-edge: light-dark(oklch(62% .13 70), oklch(72% .13 75));
  --wrong-edge: light-dark(oklch(55% .19 27), oklch(68% .17 25));
  --raised: light-dark(oklch(100% 0 0), oklch(22.5% .006 75));
  --hover: light-dark(oklch(94.5% .006 75), oklch(27% .007 75));
  --hairline: light-dark(oklch(91.5% .006 75), oklch(30% .007 75));
  --mono: 'JetBrains Mono Variable', ui-monospace, 'Cascadia Code', Menlo, monospace;
}
[data-theme=light] { color-scheme: light; }
[data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper); font: 14px/1.5 'Inter Variable', Inter, system-ui, sans-serif; font-feature-settings: 'cv11', 'ss03'; -webkit-font-smoothing: antialiased; }
a { color: var(--act); text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--act); outline-offset: 2px; border-radius: 2px; }
small { font-size: 12px; color: var(--dim); }
code, pre, kbd { font-family: var(--mono); font-size: 13px; }
pre { margin: 8px 0; padding: 12px; border-radius: 6px; background: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere; }
input { font: inherit; color: inherit; background: var(--raised); padding: 7px 8px; border: 1px solid var(--edge); border-radius: 6px; }
@media (max-width: 40rem) { input { font-size: 16px; } }
`

/** As the build names them. What is no Latin letter comes from the fonts of the system. */
const FONTS = [
  { family: 'Inter Variable', start: '/assets/inter-latin-wght-normal-', weights: '100 900' },
  {
    family: 'JetBrains Mono Variable',
    start: '/assets/jetbrains-mono-latin-wght-normal-',
    weights: '100 800',
  },
]

/** The console's fonts, in a stylesheet of pages that are none of its own. */
export const fontFaces = (paths: ReadonlySet<string>): string =>
  FONTS.map(({ family, start, weights }) => {
    const path = [...paths].find((path) => path.startsWith(start))
    return path
      ? `@font-face { font-family: '${family}'; font-weight: ${weights}; font-display: swap; src: url(${path}) format('woff2'); }\n`
      : ''
  }).join('')

// How a page can look: in either theme, on a desk and on a phone. What axe thinks of it, and whether it fits.

import { join } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

export const DESK = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
/** Set it to look at the pages afterwards. */
const screenshots = process.env.TEST_SCREENSHOTS

export interface Look {
  size: 'desk' | 'phone'
  colorScheme: 'light' | 'dark'
}

/** On a desk in both themes; on a phone in one, as it has the same colours, in other places. */
export const SIZES: readonly Look[][] = [
  [
    { size: 'desk', colorScheme: 'light' },
    { size: 'desk', colorScheme: 'dark' },
  ],
  [{ size: 'phone', colorScheme: 'dark' }],
]
/** Each theme and each size once. */
export const LOOKS: readonly Look[] = [
  { size: 'desk', colorScheme: 'light' },
  { size: 'phone', colorScheme: 'dark' },
]

/**
 * What is wrong with a page in these looks, `within` a selector or as a whole: whatever axe finds, and that it has to be
 * scrolled sideways. `name` is that of the page and of its pictures.
 */
export async function findFaults(
  page: Page,
  name: string,
  looks: readonly Look[],
  within?: string,
): Promise<string[]> {
  const faults: string[] = []
  for (const { size, colorScheme } of looks) {
    await page.setViewportSize(size === 'desk' ? DESK : PHONE)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}-${size}-${colorScheme}.png`) })
    // Once a document. By the browser's own hand, which no policy of the page binds.
    if (!(await page.evaluate('Boolean(globalThis.axe)'))) await page.evaluate(axe.source)
    const { findings, passed, overflow } = (await page.evaluate(inspect(within))) as Seen
    if (passed <= (within ? 0 : 10)) findings.push(`only ${passed} rules were held against it`)
    if (overflow > 0) findings.push(`it is ${overflow} too wide`)
    faults.push(...findings.map((finding) => `${name} in ${colorScheme} on a ${size}: ${finding}`))
  }
  return faults
}

interface Seen {
  passed: number
  findings: string[]
  overflow: number
}

const inspect = (within?: string): string => `(async () => {
  const { violations, passes } = await axe.run(${JSON.stringify(within) ?? 'document'}, { resultTypes: ['violations'] })
  return {
    passed: passes.length,
    findings: violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => [id, html.slice(0, 200), failureSummary].join(' '))),
    overflow: document.documentElement.scrollWidth - innerWidth,
  }
})()`

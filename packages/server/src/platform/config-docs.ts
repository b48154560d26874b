import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from './config.ts'

export const CONFIGURATION_PAGE = join(import.meta.dirname, '../../../../docs/configuration.md')

/** `docs/configuration.md`, from the one place where settings are declared. */
export function configurationPage(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const fallback = 'fallback' in setting && setting.fallback !== '' ? `\`${setting.fallback}\`` : ''
    return `| \`${name}\` | ${fallback} | ${setting.about} |`
  })
  return `# Configuration

Everything is set in the environment, and nothing has to be. A setting that is wrong, or that does not exist, stops the
start with a list of all problems. Made by \`npm run docs\`.

| setting | default | what it does |
| --- | --- | --- |
${rows.join('\n')}
`
}

if (import.meta.main) writeFileSync(CONFIGURATION_PAGE, configurationPage())

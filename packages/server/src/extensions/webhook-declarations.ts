import type { DeclaredWebhook, DeclaredWebhooks } from '../webhooks/declared.ts'
import type { SoundWebhook, SurveyProblem } from './surveys.ts'

/** A webhook of a commit, as those know it who deliver. */
export const declarationOf = ({ name, descriptor, payloadHash }: SoundWebhook): DeclaredWebhook => ({
  name,
  url: descriptor.url,
  on: descriptor.on ?? {},
  contentType: descriptor.contentType ?? 'application/json',
  moduleHash: payloadHash,
})

type Refused = Awaited<ReturnType<DeclaredWebhooks['problems']>>[number]

/** Why it cannot come into force, said of its file as everything else that is wrong with it. */
export function problemOf({ webhook, isUrl, message }: Refused): SurveyProblem {
  const folder = `webhooks/${webhook}`
  const path = `${folder}/webhook.json${isUrl ? '#/url' : ''}`
  return { folder, path, message, from: 'descriptor' }
}

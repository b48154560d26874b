// The process that builds: whatever a module makes of esbuild, it costs this process and one build.

import { version } from 'esbuild'
import type { BuildOrder, FileAnswer, FromBuilder, ToBuilder } from './build-messages.ts'
import { bundle } from './bundling.ts'

const questions = new Map<number, (answer: FileAnswer) => void>()
let asked = 0

const say = (message: FromBuilder) => process.send?.(message)

async function work({ order, entry, runtime }: BuildOrder): Promise<void> {
  const report = await bundle({ entry, runtime }, (specifier, importer) => {
    const question = ++asked
    return new Promise((resolve) => {
      questions.set(question, resolve)
      say({ order, question, specifier, ...(importer !== undefined && { importer }) })
    })
  })
  say({ order, ...report })
}

process.on('message', (message: ToBuilder) => {
  if ('entry' in message) {
    void work(message).catch((error: unknown) => {
      // Whatever this is, it is not the module's mistake: begin anew in another process.
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
      process.exit(1)
    })
    return
  }
  questions.get(message.question)?.(message)
  questions.delete(message.question)
})
process.on('disconnect', () => process.exit(0))
say({ ready: version })

import { parentPort } from 'node:worker_threads'
import { compileSchema, type Validator } from '../extensions/schema-validation.ts'
import { createRecent } from '../platform/recent.ts'
import type { SchemaAnswer, SchemaQuestion } from './schema-checks.ts'

const COMPILED = 200

const compiled = createRecent<string, Validator>({ maxEntries: COMPILED })

// On this thread, which is ended when a value takes too long.
parentPort?.on('message', ({ schema, value }: SchemaQuestion) => {
  let answer: SchemaAnswer
  try {
    let validate = compiled.get(schema)
    if (!validate) {
      validate = compileSchema(JSON.parse(schema))
      compiled.set(schema, validate)
    }
    answer = { problem: validate(JSON.parse(value)) }
  } catch (error) {
    answer = {
      problem: `it cannot be held against the schema: ${error instanceof Error ? error.message : error}`,
    }
  }
  parentPort?.postMessage(answer)
})

parentPort?.postMessage('ready')

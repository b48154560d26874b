import { Ajv, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { RE2JS } from 're2js'
import { isDraft7 } from './json-schemas.ts'

/** The engine that every pattern of a sound schema was tried with: linear, whatever the text. */
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // ajv knows patterns again by their text.
    return { test: (text: string) => compiled.test(text), toString: () => pattern }
  },
  { code: '' },
)

/** The first problem is enough: to find all of them may take longer than the value is worth. */
const options: Options = {
  strict: false,
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
  code: { regExp },
}

/** Says what is wrong with a value, or undefined. The schema must be one that a descriptor may have. */
export type Validator = (value: unknown) => string | undefined

/** It becomes a program: compile it once, and where a value that takes long holds up nobody. */
export function compileSchema(schema: Record<string, unknown>): Validator {
  const { $schema: _, $id: __, ...rest } = schema
  const validate = (isDraft7(schema) ? new Ajv(options) : new Ajv2020(options)).compile(rest)
  return (value) => {
    if (validate(value)) return undefined
    const [{ instancePath = '', message = 'is wrong' } = {}] = validate.errors ?? []
    return `${instancePath || 'the value'} ${message}`
  }
}

import { invalid } from '../../platform/fault.ts'

/** A line may have so many characters: more than any row. */
const MAX_LINE = 512 * 1024

/** The lines that come, with their numbers from one on; blank ones are left out. */
export async function* linesOf(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ line: number; text: string }> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  let line = 0
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw invalid([line + 1], 'is not valid UTF-8')
    }
  }
  for await (const chunk of body) {
    const texts = (rest + decode(chunk)).split('\n')
    rest = texts.pop() ?? ''
    for (const text of texts) {
      line++
      if (text.length > MAX_LINE) throw tooLong(line)
      if (text.trim() !== '') yield { line, text }
    }
    if (rest.length > MAX_LINE) throw tooLong(line + 1)
  }
  rest += decode()
  if (rest.trim() !== '') yield { line: line + 1, text: rest }
}

const tooLong = (line: number) => invalid([line], `must not have more than ${MAX_LINE} characters`)

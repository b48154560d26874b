import assert from 'node:assert/strict'

/** Follows a log as a client does. */
interface TestTail extends AsyncDisposable {
  status: number
  headers: Headers
  /** The next event: its id, and its data. */
  next(): Promise<{ id: string; data: { type: string; [field: string]: unknown } } | undefined>
  /** All that come until the server ends it. */
  rest(): Promise<string[]>
  close(): void
}

export async function openTail(url: string, headers: Record<string, string> = {}): Promise<TestTail> {
  const leaving = new AbortController()
  const response = await fetch(url, { headers, signal: leaving.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next: TestTail['next'] = async () => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const frame = text.slice(0, end)
        text = text.slice(end + 2)
        const [, id, data] = /^id: (.*)\ndata: (.*)$/.exec(frame) ?? []
        if (id !== undefined && data !== undefined) return { id, data: JSON.parse(data) }
        assert.match(frame, /^(:|retry: \d+$)/)
        continue
      }
      const { value, done } = (await reader?.read()) ?? { done: true }
      if (done) return undefined
      text += value
    }
  }
  const close = () => leaving.abort()
  return {
    status: response.status,
    headers: response.headers,
    next,
    async rest() {
      const types: string[] = []
      for (let one = await next(); one; one = await next()) types.push(one.data.type)
      return types
    },
    close,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}

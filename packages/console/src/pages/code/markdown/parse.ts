/** Nobody waits longer for a README. */
const PATIENCE_MS = 8_000

/** The HTML of a Markdown text, which nobody has looked through yet. */
export function parseMarkdown(text: string, signal: AbortSignal): Promise<string> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'markdown' })
  let timer: ReturnType<typeof setTimeout> | undefined
  return new Promise<string>((resolve, reject) => {
    const tooLong = () => reject(new Error('This text is too intricate to be rendered'))
    timer = setTimeout(tooLong, PATIENCE_MS)
    signal.addEventListener('abort', () => reject(signal.reason))
    worker.addEventListener('message', ({ data }: MessageEvent<string>) => resolve(data))
    worker.addEventListener('error', () => reject(new Error('This text could not be rendered')))
    worker.postMessage(withoutFrontMatter(text))
  }).finally(() => {
    clearTimeout(timer)
    worker.terminate()
  })
}

/** Settings that some programs read stand before the text, between two lines of dashes. */
const withoutFrontMatter = (text: string): string => text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '')

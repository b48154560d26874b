import { useEffect, useState } from 'react'
import { Button } from './Button.tsx'

/** Copies, and says that it has. */
export function CopyButton({
  text,
  label = 'Copy',
  bare = false,
}: {
  text: string
  label?: string
  bare?: boolean
}) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  const said = { idle: label, copied: 'Copied', refused: 'Not allowed here: select it' }[state]

  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 2_000)
    return () => clearTimeout(timer)
  }, [state])

  return (
    <>
      <Button
        kind={bare ? 'quiet' : 'second'}
        small
        icon={state === 'copied' ? 'check' : 'copy'}
        aria-label={bare ? label : undefined}
        title={bare ? said : undefined}
        onClick={() => {
          copy(text).then(
            () => setState('copied'),
            () => setState('refused'),
          )
        }}
      >
        {bare ? undefined : said}
      </Button>
      <span className="heard" role="status">
        {state === 'idle' ? '' : said}
      </span>
    </>
  )
}

/** Without TLS browsers give no clipboard, but still do what a person does: select and copy. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const held = document.createElement('textarea')
  held.value = text
  document.body.append(held)
  held.select()
  const isCopied = document.execCommand('copy')
  held.remove()
  if (!isCopied) throw new Error('The browser did not copy')
}

import { CopyButton } from '../../../ui/CopyButton.tsx'
import { reachable } from '../../../ui/reachable.ts'
import { Coloured } from '../highlight/Coloured.tsx'
import { useColours } from '../highlight/client.ts'
import { languageOfWord } from '../highlight/languages.ts'
import styles from './Markdown.module.css'

/** A piece of code in a text. */
export function CodeBlock({ text, word }: { text: string; word: string }) {
  const coloursOf = useColours(text, languageOfWord(word))
  const lines = text.split('\n')
  return (
    <div className={styles.block}>
      <pre {...reachable}>
        <code>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else.
            <span key={index}>
              <Coloured text={line} colours={coloursOf(index)} />
              {index < lines.length - 1 && '\n'}
            </span>
          ))}
        </code>
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} bare />
      </div>
    </div>
  )
}

import { Section } from '../../ui/Page.tsx'
import { FileLink, WithPlaces } from './links.tsx'
import styles from './Programs.module.css'

interface BuildErrorsProps {
  org: string
  repo: string
  at: string
  errors: readonly { path: string; message: string }[]
}

/** What is broken at a ref: each at its file, and what is wrong there. */
export const BuildErrors = ({ org, repo, at, errors }: BuildErrorsProps) => (
  <Section title={errors.length === 1 ? '1 thing is broken' : `${errors.length} things are broken`}>
    <ul className={styles.errors} aria-label="What is broken">
      {errors.map(({ path, message }) => {
        const [file = path, pointer] = path.split('#')
        return (
          <li key={`${path} ${message}`}>
            <span>
              <FileLink org={org} repo={repo} at={at} path={file}>
                {file}
              </FileLink>
              {pointer && <code className={styles.dim}> {pointer}</code>}
            </span>
            <pre>
              <WithPlaces org={org} repo={repo} at={at} text={message} />
            </pre>
          </li>
        )
      })}
    </ul>
  </Section>
)

import { Link } from '@tanstack/react-router'
import { useRepo } from '../../shell/places.ts'
import { AnchorButton, Button } from '../../ui/Button.tsx'
import { Command } from '../../ui/Code.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Popover } from '../../ui/Popover.tsx'
import { archivePath } from './addresses.ts'
import styles from './CloneMenu.module.css'

/** How to get a copy. */
export function CloneMenu({ gitRef }: { gitRef: string | undefined }) {
  const { org, name, repo } = useRepo()
  const remote = repo.remote ?? ''
  return (
    <Popover
      label="Clone"
      align="end"
      trigger={
        <Button kind="first">
          Clone
          <Icon name="down" />
        </Button>
      }
    >
      <div className={styles.menu}>
        <h2>Clone over {remote.startsWith('https:') ? 'HTTPS' : 'HTTP'}</h2>
        <Command>{remote}</Command>
        <Command>{`git clone ${remote}`}</Command>
        <p>
          When git asks for a password, give it a key of yours or a token of this repository. The user name
          does not matter. <Link to="/account/keys">Make a key</Link>
        </p>
        {gitRef !== undefined && (
          <>
            <h2>Download the files</h2>
            <div className={styles.archives}>
              {(['zip', 'tar.gz'] as const).map((format) => (
                <AnchorButton
                  key={format}
                  small
                  icon="download"
                  href={archivePath({ org, name, ref: gitRef }, format)}
                  download
                >
                  {format}
                </AnchorButton>
              ))}
            </div>
          </>
        )}
      </div>
    </Popover>
  )
}

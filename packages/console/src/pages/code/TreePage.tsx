import { Page } from '../../ui/Page.tsx'
import { refInWords } from './addresses.ts'
import { Box, Toolbar } from './Box.tsx'
import { CloneMenu } from './CloneMenu.tsx'
import styles from './CodePage.module.css'
import { Crumbs } from './Crumbs.tsx'
import { Directory, useDirectory } from './Directory.tsx'
import { FindFile } from './FindFile.tsx'
import { LatestCommit } from './LatestCommit.tsx'
import { NothingAt } from './NothingAt.tsx'
import { type Place, usePin, usePlace } from './place.ts'
import { Readme } from './Readme.tsx'
import { RefPicker } from './RefPicker.tsx'

/** A directory at a ref. */
export function TreePage() {
  const place = usePlace()
  const { org, name, path } = place
  usePin('/o/$org/$repo/tree/$', place)
  const where = path || name
  return (
    <Page title={`${where} at ${refInWords(place)} · ${org}/${name}`}>
      <h1 className="heard">{where}</h1>
      <Toolbar
        actions={
          <>
            <FindFile at={place} />
            <CloneMenu gitRef={place.ref} />
          </>
        }
      >
        <RefPicker to="/o/$org/$repo/tree/$" at={place} />
        <Crumbs at={place} />
      </Toolbar>
      {path && place.entry?.type !== 'tree' ? <NothingAt place={place} /> : <Shown place={place} />}
    </Page>
  )
}

function Shown({ place }: { place: Place }) {
  const list = useDirectory(place)
  return (
    <div className={styles.main}>
      <Box head={<LatestCommit at={place} />}>
        <Directory at={place} list={list} />
      </Box>
      <Readme at={place} rows={list.rows} />
    </div>
  )
}

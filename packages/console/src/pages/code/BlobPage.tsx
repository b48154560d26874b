import { Page } from '../../ui/Page.tsx'
import { addressOf, refInWords } from './addresses.ts'
import { Toolbar } from './Box.tsx'
import { Crumbs } from './Crumbs.tsx'
import { FindFile } from './FindFile.tsx'
import { FileView } from './file/FileView.tsx'
import { NothingAt } from './NothingAt.tsx'
import { usePin, usePlace } from './place.ts'
import { RefPicker } from './RefPicker.tsx'

/** A file at a ref. */
export function BlobPage() {
  const place = usePlace()
  const { org, name, path, entry } = place
  usePin('/o/$org/$repo/blob/$', place)
  return (
    <Page title={`${path} at ${refInWords(place)} · ${org}/${name}`} full>
      <h1 className="heard">{path}</h1>
      <Toolbar actions={<FindFile at={place} />}>
        <RefPicker to="/o/$org/$repo/blob/$" at={place} />
        <Crumbs at={place} />
      </Toolbar>
      {entry?.type === 'blob' ? (
        <FileView key={addressOf(entry.oid, path)} place={place} file={entry} />
      ) : (
        <NothingAt place={place} />
      )}
    </Page>
  )
}

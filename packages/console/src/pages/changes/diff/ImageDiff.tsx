import { useState } from 'react'
import styles from './Diff.module.css'
import type { Ends, FileChange } from './use-diff.ts'

const IMAGE = /\.(png|jpe?g|gif|webp|avif|ico|bmp|svg)$/i

/** Pictures that browsers show. */
export const isImage = ({ path }: FileChange): boolean => IMAGE.test(path)

interface ImageDiffProps {
  file: FileChange
  ends: Ends
  commits: { base: string | null; head: string }
}

/** A picture before and after, side by side. */
export function ImageDiff({ file, ends, commits }: ImageDiffProps) {
  const before = file.status === 'added' || !commits.base ? undefined : commits.base
  const after = file.status === 'deleted' ? undefined : commits.head
  return (
    <div className={styles.images}>
      {before && <Shown label="Before" src={rawAddress(ends, before, file.previousPath ?? file.path)} />}
      {after && <Shown label="After" src={rawAddress(ends, after, file.path)} />}
    </div>
  )
}

const rawAddress = ({ org, name }: Ends, ref: string, path: string): string =>
  `/api/v1/git/raw?${new URLSearchParams({ org, name, ref, path })}`

function Shown({ label, src }: { label: string; src: string }) {
  const [said, setSaid] = useState('')
  return (
    <figure>
      <figcaption>
        {label}
        {said && <span className={styles.dim}>{said}</span>}
      </figcaption>
      <img
        src={src}
        alt={label}
        loading="lazy"
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setSaid(`${naturalWidth} × ${naturalHeight}`)
        }
        onError={() => setSaid('It could not be shown')}
      />
    </figure>
  )
}

import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import type { Commit } from '@trellis/contract'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Oid } from '../../ui/Code.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Page } from '../../ui/Page.tsx'
import { Tag } from '../../ui/Status.tsx'
import { TimeAgo } from '../../ui/TimeAgo.tsx'
import styles from './Changes.module.css'
import { DiffView } from './diff/DiffView.tsx'

/** A commit: what it says, who made it upon what, and what it changed. */
export function CommitPage() {
  const { org, name } = useRepo()
  const { oid } = useParams({ from: '/o/$org/$repo/commit/$oid' })
  const { w = false, parent } = useSearch({ from: '/o/$org/$repo/commit/$oid' })
  const { data: commit } = useSuspenseQuery(query(org, (api) => api.git.commits.get, { name, ref: oid }))
  const { summary, body } = readMessage(commit.message)
  const against = parent === undefined ? undefined : commit.parents[parent - 1]
  const ends = {
    ...{ org, name, head: commit.oid, ignoreWhitespace: w },
    ...(against && { base: against, mode: 'two-dot' as const }),
  }
  return (
    <Page full title={`${summary} · ${org}/${name}`}>
      <header className={styles.commit}>
        <div className={styles.head}>
          <h1>{summary}</h1>
          <LinkButton
            icon="folder"
            to="/o/$org/$repo/tree/$"
            params={{ org, repo: name, _splat: commit.oid }}
          >
            Browse files
          </LinkButton>
        </div>
        {body && <pre className={styles.body}>{body}</pre>}
        <div className={styles.facts}>
          <People commit={commit} />
          {commit.signed && <Tag>signed</Tag>}
          <Parents org={org} name={name} commit={commit} chosen={parent ?? 1} />
          <span className={styles.oid}>
            commit <code>{commit.oid}</code>
            <CopyButton text={commit.oid} label="Copy the commit's id" bare />
          </span>
        </div>
      </header>
      <DiffView ends={ends} />
    </Page>
  )
}

/** The first line, and what follows. */
export function readMessage(message: string): { summary: string; body: string } {
  const [summary = '', ...rest] = message.trim().split('\n')
  return { summary: summary || 'No message', body: rest.join('\n').trim() }
}

function People({ commit: { author, committer } }: { commit: Commit }) {
  const isSame = author.name === committer.name && author.email === committer.email
  return (
    <span>
      <strong title={author.email}>{author.name}</strong>
      {isSame ? ' committed ' : ' wrote it '}
      <TimeAgo at={author.time} />
      {!isSame && (
        <>
          , <strong title={committer.email}>{committer.name}</strong> committed{' '}
          <TimeAgo at={committer.time} />
        </>
      )}
    </span>
  )
}

/** What it was made upon. Of a merge, each can be held against it. */
function Parents({
  org,
  name,
  commit: { oid, parents },
  chosen,
}: {
  org: string
  name: string
  commit: Commit
  chosen: number
}) {
  if (parents.length === 0) return <span>A first commit: it has no parent.</span>
  return (
    <span className={styles.parents}>
      {parents.length === 1 ? 'parent' : 'parents'}
      {parents.map((parent, i) => (
        <span key={parent}>
          <Link to="/o/$org/$repo/commit/$oid" params={{ org, repo: name, oid: parent }}>
            <Oid>{parent}</Oid>
          </Link>
          {parents.length > 1 &&
            (i + 1 === chosen ? (
              <span className={styles.dim}> (shown against)</span>
            ) : (
              <>
                {' '}
                (
                <Link
                  to="/o/$org/$repo/commit/$oid"
                  params={{ org, repo: name, oid }}
                  search={{ parent: i + 1 }}
                >
                  show against
                </Link>
                )
              </>
            ))}
        </span>
      ))}
    </span>
  )
}

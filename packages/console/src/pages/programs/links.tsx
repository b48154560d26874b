import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface FileLinkProps {
  org: string
  repo: string
  /** A commit or a branch. */
  at: string
  path: string
  line?: number | undefined
  children: ReactNode
}

/** To a file as it is at a commit, and to a line of it. */
export const FileLink = ({ org, repo, at, path, line, children }: FileLinkProps) => (
  <Link
    to="/o/$org/$repo/blob/$"
    params={{ org, repo, _splat: `${at}/${path}` }}
    {...(line !== undefined && { hash: `L${line}` })}
  >
    {children}
  </Link>
)

export const CommitLink = ({ org, repo, oid }: { org: string; repo: string; oid: string }) => (
  <Link to="/o/$org/$repo/commit/$oid" params={{ org, repo, oid }} title={oid}>
    <code>{oid.slice(0, 7)}</code>
  </Link>
)

/** `extensions/triage/index.ts:14:7`, as stacks have it. */
const PLACE = /((?:[\w@.-]+\/)+[\w@.-]+\.[cm]?[jt]sx?):(\d{1,7})(?::\d{1,7})?/g

interface WithPlacesProps {
  org: string
  repo: string
  /** The commit that the code came from; null where nothing is linked. */
  at: string | null
  text: string
}

/** A text in which places of files lead to their lines. */
export function WithPlaces({ org, repo, at, text }: WithPlacesProps) {
  if (!at) return text
  const parts: ReactNode[] = []
  let from = 0
  for (const found of text.matchAll(PLACE)) {
    const [place, path = '', line] = found
    parts.push(
      text.slice(from, found.index),
      <FileLink key={found.index} org={org} repo={repo} at={at} path={path} line={Number(line)}>
        {place}
      </FileLink>,
    )
    from = found.index + place.length
  }
  return [...parts, text.slice(from)]
}

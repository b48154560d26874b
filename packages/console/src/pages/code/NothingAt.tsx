import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { addressOf, refInWords } from './addresses.ts'
import type { Place } from './place.ts'

/** The ref is there, the path is not: it may have been, or is elsewhere. */
export function NothingAt({ place }: { place: Place }) {
  const { org, name, ref, path, entry } = place
  if (entry?.type === 'commit')
    return (
      <EmptyState title={`${path} is a submodule`}>
        <p>
          Here is only that it stands at the commit <code>{entry.oid}</code> of another repository, which the
          file .gitmodules names.
        </p>
      </EmptyState>
    )
  return (
    <EmptyState title={`Nothing is at ${path} in ${refInWords(place)}`}>
      <p>
        It may have been moved or removed:{' '}
        <Link to="/o/$org/$repo/commits/$" params={{ org, repo: name, _splat: addressOf(ref, path) }}>
          see what its history says
        </Link>
        , or{' '}
        <Link to="/o/$org/$repo/tree/$" params={{ org, repo: name, _splat: ref }}>
          go to the root
        </Link>
        .
      </p>
    </EmptyState>
  )
}

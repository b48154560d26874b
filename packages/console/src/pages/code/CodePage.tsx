import { useRepo } from '../../shell/places.ts'
import { Page } from '../../ui/Page.tsx'
import { EmptyRepository } from './EmptyRepository.tsx'

/** The front of a repository. */
export function CodePage() {
  const { org, name } = useRepo()
  return (
    <Page title={`${org}/${name}`}>
      <h1 className="heard">{name}</h1>
      <EmptyRepository />
    </Page>
  )
}

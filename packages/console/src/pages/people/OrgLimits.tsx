import { queryOptions, useQuery } from '@tanstack/react-query'
import { readError } from '../../api/errors.ts'
import { useOrg } from '../../shell/places.ts'
import { Bytes } from '../../ui/Bytes.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Section } from '../../ui/Page.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'

interface Limits {
  organization: {
    repositories: number
    bytes: number
    runsAtOnce: number
    runsQueued: number
    daemons: number
  }
  repository: { bytes: number; refs: number; webhooks: number; secrets: number; tokens: number }
  body: { pushBytes: number }
}

const limitsQuery = queryOptions({
  queryKey: ['', 'limits'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }): Promise<Limits> => {
    const response = await fetch('/limits', { signal })
    if (!response.ok) throw await readError(response)
    return response.json()
  },
})

const number = new Intl.NumberFormat('en')

/** What whoever runs the server allows every organization. */
export function OrgLimits() {
  const { organization } = useOrg()
  const { data } = useQuery(limitsQuery)
  return (
    <Section title="Limits">
      {data ? (
        <Facts
          of={[
            [
              'Repositories',
              `${number.format(organization.repoCount)} of ${number.format(data.organization.repositories)}`,
            ],
            ['Of all repositories together', <Bytes key="all" of={data.organization.bytes} />],
            ['Of one repository', <Bytes key="one" of={data.repository.bytes} />],
            ['Of one push', <Bytes key="push" of={data.body.pushBytes} />],
            ['Refs of a repository', number.format(data.repository.refs)],
            ['Runs at once', number.format(data.organization.runsAtOnce)],
            ['Daemons', number.format(data.organization.daemons)],
          ]}
        />
      ) : (
        <Skeleton rows={4} />
      )}
    </Section>
  )
}

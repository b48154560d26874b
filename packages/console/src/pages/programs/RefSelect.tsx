import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { shortRef } from '../../activity/words.ts'
import { query } from '../../api/queries.ts'
import { Select } from '../../ui/Field.tsx'

interface RefSelectProps {
  org: string
  name: string
  current: string
  /** Where it can be chosen as well. */
  canonicalRef?: string
}

/** Which branch is looked at: it is in the address. */
export function RefSelect({ org, name, current, canonicalRef }: RefSelectProps) {
  const navigate = useNavigate()
  const { data } = useQuery(query(org, (api) => api.git.branches.list, { name, limit: 100 }))
  const branches = (data?.items ?? []).map((branch) => branch.name)
  const shown = [...new Set([shortRef(current), ...branches])].filter((ref) => ref !== canonicalRef)
  return (
    <Select
      aria-label="Branch"
      value={shortRef(current)}
      onChange={({ target }) =>
        void navigate({ to: '.', search: ((before: object) => ({ ...before, ref: target.value })) as never })
      }
    >
      {shown.map((ref) => (
        <option key={ref}>{ref}</option>
      ))}
      {canonicalRef && <option value={canonicalRef}>canonical: what is in force</option>}
    </Select>
  )
}

import { Autocomplete } from '@base-ui/react/autocomplete'
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useMemo, useState } from 'react'
import { query } from '../../api/queries.ts'
import { useSettled } from '../../api/settled.ts'
import { useRepo } from '../../shell/places.ts'
import { Icon } from '../../ui/Icon.tsx'
import { refsQuery } from './find-refs.ts'
import styles from './RefInput.module.css'

interface RefInputProps extends Pick<ComponentProps<'input'>, 'id' | 'aria-describedby' | 'aria-label'> {
  value: string
  onChange: (value: string) => void
  /** Something that was chosen from the list, or confirmed with Enter. */
  onChoose?: (value: string) => void
  branchesOnly?: boolean
}

interface Suggestion {
  name: string
  type: 'branch' | 'tag' | 'other'
}

/** Any revision, with the branches and tags there are to choose from. */
export function RefInput({ value, onChange, onChoose, branchesOnly = false, ...control }: RefInputProps) {
  // Whatever is outside of an open list is hidden from those who listen: one with nothing in it stays closed.
  const [isOpen, setOpen] = useState(false)
  const written = value.trim().toLowerCase()
  const items = useSuggestions({ written, isOpen, branchesOnly })
  const isFound = items.some(({ name }) => name.toLowerCase().includes(written))
  return (
    <Autocomplete.Root
      items={items}
      open={isOpen && isFound}
      onOpenChange={setOpen}
      itemToStringValue={(item) => (item as Suggestion).name}
      value={value}
      openOnInputClick
      onValueChange={(next, { reason }) => {
        onChange(next)
        if (reason === 'item-press') onChoose?.(next)
      }}
    >
      <Autocomplete.Input
        {...control}
        className={styles.input}
        spellCheck={false}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <Autocomplete.Portal>
        <Autocomplete.Positioner className={styles.place} sideOffset={4} align="start">
          <Autocomplete.Popup className={styles.popup}>
            <Autocomplete.List className={styles.list}>
              {(item: Suggestion) => (
                <Autocomplete.Item key={`${item.type} ${item.name}`} className={styles.item} value={item}>
                  <Icon name={item.type === 'tag' ? 'tag' : 'branch'} />
                  {item.name}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  )
}

interface Wanted {
  written: string
  isOpen: boolean
  branchesOnly: boolean
}

const MOST_OF_A_KIND = 100

/** The first branches and tags, and where those are not all the ones that are called as is written. */
function useSuggestions({ written, isOpen, branchesOnly }: Wanted): Suggestion[] {
  const { org, name } = useRepo()
  const input = { name, limit: MOST_OF_A_KIND }
  const branches = useQuery(query(org, (api) => api.git.branches.list, input)).data
  const tags = useQuery({
    ...query(org, (api) => api.git.tags.list, input),
    enabled: !branchesOnly,
  }).data
  const text = useSettled(written)
  const found = useQuery({
    ...refsQuery({ org, name, text, limit: MOST_OF_A_KIND, type: branchesOnly ? 'branch' : undefined }),
    enabled: isOpen && text !== '' && (branches?.hasMore === true || tags?.hasMore === true),
  }).data
  return useMemo(() => {
    const all = [branches, branchesOnly ? undefined : tags, found].flatMap((list) => list?.items ?? [])
    return [...new Map(all.map((ref) => [`${ref.type} ${ref.name}`, ref])).values()]
  }, [branches, tags, found, branchesOnly])
}

import { Autocomplete } from '@base-ui/react/autocomplete'
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useMemo, useState } from 'react'
import { query } from '../../api/queries.ts'
import { useRepo } from '../../shell/places.ts'
import { Icon } from '../../ui/Icon.tsx'
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
  const { org, name } = useRepo()
  const input = { name, limit: 100 }
  const branches = useQuery(query(org, (api) => api.git.branches.list, input))
  const tags = useQuery({ ...query(org, (api) => api.git.tags.list, input), enabled: !branchesOnly })
  const items = useMemo(
    (): Suggestion[] => [...(branches.data?.items ?? []), ...(branchesOnly ? [] : (tags.data?.items ?? []))],
    [branches.data, tags.data, branchesOnly],
  )
  // Whatever is outside of an open list is hidden from those who listen: one with nothing in it stays closed.
  const [isOpen, setOpen] = useState(false)
  const written = value.trim().toLowerCase()
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

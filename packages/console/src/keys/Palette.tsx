import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useState } from 'react'
import { useSettled } from '../api/settled.ts'
import frame from '../ui/Dialog.module.css'
import { Icon } from '../ui/Icon.tsx'
import { useOwnSources } from './own-sources.ts'
import styles from './Palette.module.css'
import { activeSources, type Found } from './sources.ts'

/** Finds pages, repositories and what the page that is open adds, and goes there. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const wanted = useSettled(text.trim())
  const { groups, isOld } = useFound(wanted)
  const isLate = isOld || wanted !== text.trim()
  const all = groups.flatMap(({ found }) => found)
  const navigate = useNavigate()
  const id = useId()
  const idOf = (found: Found | undefined) => found && `${id}-${found.id}`

  function go(found: Found | undefined): void {
    if (!found) return
    onClose()
    if (typeof found.go === 'string') void navigate({ to: found.go })
    else found.go()
  }

  // Whoever is quicker than the answer means the best of what it will bring.
  const [isEntered, setEntered] = useState(false)
  const goToBest = useEffectEvent(() => {
    setEntered(false)
    go(all[0])
  })
  useEffect(() => {
    if (isEntered && !isLate) goToBest()
  }, [isEntered, isLate])

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) setAt((at + step + all.length) % Math.max(1, all.length))
    else if (event.key === 'Enter' && isLate) setEntered(true)
    else if (event.key === 'Enter') go(all[at])
    else return
    event.preventDefault()
  }

  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={frame.veil} />
        <Dialog.Popup className={`${frame.dialog} ${styles.palette}`} aria-label="Search and go anywhere">
          <input
            className={styles.input}
            role="combobox"
            aria-label="Search pages and repositories"
            aria-expanded="true"
            aria-controls={`${id}-found`}
            aria-activedescendant={idOf(all[at])}
            placeholder="Go to…"
            spellCheck={false}
            autoComplete="off"
            value={text}
            onKeyDown={onKeyDown}
            onChange={(event) => {
              setText(event.target.value)
              setAt(0)
              setEntered(false)
            }}
          />
          <div id={`${id}-found`} role="listbox" aria-label="Found" className={styles.found}>
            {groups.map(({ name, found }) => (
              // biome-ignore lint/a11y/useSemanticElements: options of a listbox are grouped by a role.
              <div key={name} role="group" aria-label={name}>
                <div className={styles.group} aria-hidden="true">
                  {name}
                </div>
                {found.map((item) => (
                  <Option
                    key={item.id}
                    id={idOf(item)}
                    found={item}
                    chosen={item === all[at]}
                    onGo={() => go(item)}
                  />
                ))}
              </div>
            ))}
          </div>
          {all.length === 0 && !isLate && <p className={styles.none}>Nothing is called like that.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** What was found, by where; old while an answer to what is wanted now is on its way. */
function useFound(wanted: string): { groups: { name: string; found: Found[] }[]; isOld: boolean } {
  const own = useOwnSources()
  const sources = [...activeSources(), ...own]
  const { data, isPlaceholderData, isPending } = useQuery({
    queryKey: ['palette', sources.map(({ name }) => name), wanted],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        sources.map(async ({ name, find }) => ({ name, found: await find(wanted, signal) })),
      )
      return found.filter(({ found }) => found.length > 0)
    },
    // While more is looked for, what was found stays.
    placeholderData: (before) => before,
    staleTime: 0,
    gcTime: 0,
    throwOnError: false,
  })
  return { groups: data ?? [], isOld: isPending || isPlaceholderData }
}

interface OptionProps {
  id: string | undefined
  found: Found
  chosen: boolean
  onGo: () => void
}

const Option = ({ id, found, chosen, onGo }: OptionProps) => (
  // Keys are heard at the input, which says which one is meant.
  // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
  // biome-ignore lint/a11y/useFocusableInteractive: see above.
  <div
    id={id}
    role="option"
    aria-selected={chosen}
    className={styles.option}
    onClick={onGo}
    ref={chosen ? show : null}
  >
    <Icon name={found.icon} />
    <span className={styles.label}>{found.label}</span>
    {found.detail && <span className={styles.detail}>{found.detail}</span>}
  </div>
)

const show = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

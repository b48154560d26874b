import { Dialog } from '../ui/Dialog.tsx'
import { Kbd } from '../ui/Kbd.tsx'
import styles from './Help.module.css'
import { activeShortcuts, modKey } from './shortcuts.ts'

/** All keys that work where one is. */
export default function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keyboard shortcuts">
      <dl className={styles.keys}>
        {activeShortcuts().map(({ keys, does }) => (
          <div key={keys}>
            <dt>{does}</dt>
            <dd>
              <Kbd keys={keys.replace('mod+', `${modKey} `)} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

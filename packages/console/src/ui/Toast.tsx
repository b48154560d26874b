import { Toast as Base } from '@base-ui/react/toast'
import { Button } from './Button.tsx'
import styles from './Toast.module.css'

const toasts = Base.createToastManager()

/** Says in a corner that something is done. What failed is said where it was asked for. */
export function toast(words: string): void {
  toasts.add({ title: words })
}

export const Toasts = () => (
  <Base.Provider toastManager={toasts} timeout={5_000}>
    <Base.Portal>
      <Base.Viewport className={styles.corner}>
        <Shown />
      </Base.Viewport>
    </Base.Portal>
  </Base.Provider>
)

const Shown = () =>
  Base.useToastManager().toasts.map((shown) => (
    <Base.Root key={shown.id} toast={shown} className={styles.toast}>
      <Base.Content className={styles.content}>
        <Base.Title className={styles.title} />
        <Base.Close render={<Button kind="quiet" small icon="close" aria-label="Dismiss" />} />
      </Base.Content>
    </Base.Root>
  ))

import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useShortcut } from '../keys/shortcuts.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Toasts } from '../ui/Toast.tsx'
import styles from './Shell.module.css'
import { TopBar } from './TopBar.tsx'

const Palette = lazy(() => import('../keys/Palette.tsx'))
const Help = lazy(() => import('../keys/Help.tsx'))

/** Around every page: the bar above it, and what can be called from anywhere. */
export function Shell() {
  const [called, setCalled] = useState<'palette' | 'help'>()
  const close = () => setCalled(undefined)
  useShortcut('mod+k', 'Go anywhere', () => setCalled('palette'))
  useShortcut('?', 'Show all keys', () => setCalled('help'))
  return (
    <>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <TopBar onSearch={() => setCalled('palette')} onHelp={() => setCalled('help')} />
      <Progress />
      <main id="content" className={styles.content} tabIndex={-1}>
        <Suspense fallback={<Waiting />}>
          <Outlet />
        </Suspense>
      </main>
      <Suspense>
        {called === 'palette' && <Palette onClose={close} />}
        {called === 'help' && <Help onClose={close} />}
      </Suspense>
      <Toasts />
    </>
  )
}

/** A page that is on its way while another is still there. */
function Progress() {
  const isLoading = useRouterState({ select: ({ status }) => status === 'pending' })
  return isLoading ? (
    <div className={styles.progress} role="progressbar" aria-label="Loading the page" />
  ) : null
}

export const Waiting = () => (
  <div className={styles.waiting}>
    <Skeleton />
  </div>
)

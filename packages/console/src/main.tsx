import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isApiError } from './api/errors.ts'
import { queryClient } from './api/queries.ts'
import { listenForShortcuts } from './keys/shortcuts.ts'
import { router } from './routes/router.tsx'

const place = document.getElementById('root')
if (!place) throw new Error('index.html has no place for the console')

listenForShortcuts()
// Boundaries show it. What is no answer of the server is a fault of ours: that belongs to the console of the browser.
const onCaughtError = (error: unknown) => {
  if (!isApiError(error)) reportError(error)
}
createRoot(place, { onCaughtError }).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)

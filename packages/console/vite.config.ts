import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    // The server reads it to know what a page needs first.
    manifest: 'manifest.json',
    // Under the content security policy nothing may be in the page itself but what is a file of its own.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
  },
  // Workers read grammars when they need them, which only modules can.
  worker: { format: 'es' },
  // For work on the console beside a server that runs: `npm run dev -w @trellis/console`.
  server: {
    proxy: { '^/(api|login|account/(security|sessions)|page.css|reference)': 'http://127.0.0.1:8787' },
  },
})

// node:test follows every promise to know which test made it, which costs a seventh of the CPU of our tests. It needs
// that only to name the test when an error is thrown where nobody awaits it; without, such an error fails the file.

import hooks, { type HookCallbacks } from 'node:async_hooks'

const { createHook } = hooks
hooks.createHook = (callbacks: HookCallbacks) => createHook({ trackPromises: false, ...callbacks })

/** For what scrolls, so that keys can scroll it too: `<pre {...reachable}>`. */
export const reachable = { tabIndex: 0 } as const

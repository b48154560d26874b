let isGoing = false
// Whoever comes back to this page finds it as they left it.
addEventListener('pageshow', () => {
  isGoing = false
})

/** The pages that sign in are the server's own. Of all that is refused at once, the first leads there. */
export function goToSignIn(): void {
  if (isGoing) return
  isGoing = true
  const here = location.pathname + location.search
  location.assign(`/login?return_to=${encodeURIComponent(here)}`)
}

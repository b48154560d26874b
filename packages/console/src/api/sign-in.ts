/** The pages that sign in are the server's own. */
export function goToSignIn(): void {
  const here = location.pathname + location.search
  location.assign(`/login?return_to=${encodeURIComponent(here)}`)
}

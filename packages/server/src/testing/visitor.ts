/** What a browser without JavaScript does: keeps cookies, fills in forms, follows redirects when told to. */
export function createVisitor(app: { url: string }, cookie = '') {
  const jar = new Map(
    cookie
      .split('; ')
      .filter(Boolean)
      .map((pair) => pair.split(/=(.*)/s) as [string, string]),
  )
  const header = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

  async function ask(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
    const response = await fetch(new URL(path, app.url), {
      redirect: 'manual',
      ...init,
      headers: { cookie: header(), ...init.headers },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const { status, headers } = response
    return { status, headers, location: headers.get('location'), text: await response.text() }
  }

  return {
    jar,
    get: (path: string, headers?: Record<string, string>) => ask(path, headers && { headers }),
    /** Sends the form of the page that was opened last, with these fields. */
    async post(
      page: { text: string },
      path: string,
      fields: Record<string, string>,
      headers?: Record<string, string>,
    ) {
      const form_token = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
      const body = new URLSearchParams({ form_token, ...fields })
      return ask(path, { method: 'POST', body, ...(headers && { headers }) })
    },
  }
}

import { isIP } from 'node:net'

export const PASSKEY_SCRIPT = '/passkeys.js'

/** Browsers make passkeys for names, never for addresses. */
export const passkeysWorkAt = (baseUrl: string): boolean =>
  isIP(new URL(baseUrl).hostname.replaceAll(/[[\]]/g, '')) === 0

/**
 * What no form can do: has the browser make a passkey, or sign with one. An element with `data-passkey` is shown where
 * that works; it has a button, and a place for what went wrong.
 */
export const passkeyScript = `
async function ask(route, body) {
  const answer = await fetch('/api/auth/passkey/' + route, body && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const said = await answer.json()
  if (!answer.ok) throw new Error(said.message || 'That did not work.')
  return said
}

const acts = {
  async 'sign-in'(place) {
    const options = await ask('generate-authenticate-options')
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({ ...options, userVerification: 'required' })
    const credential = await navigator.credentials.get({ publicKey })
    await ask('verify-authentication', { response: credential.toJSON() })
    location.assign(place.dataset.returnTo)
  },
  async add(place) {
    const options = await ask('generate-register-options')
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
    const credential = await navigator.credentials.create({ publicKey })
    const name = place.querySelector('input').value.trim()
    await ask('verify-registration', { response: credential.toJSON(), ...(name && { name }) })
    location.reload()
  },
}

for (const place of document.querySelectorAll('[data-passkey]')) {
  if (!('PublicKeyCredential' in window && PublicKeyCredential.parseRequestOptionsFromJSON)) break
  const button = place.querySelector('button')
  const problem = place.querySelector('[role=alert]')
  place.hidden = false
  button.addEventListener('click', async () => {
    button.disabled = true
    problem.hidden = true
    try {
      await acts[place.dataset.passkey](place)
    } catch (error) {
      problem.textContent =
        error.name === 'NotAllowedError' ? 'The browser was not given a passkey. Try again.' : error.message
      problem.hidden = false
    }
    button.disabled = false
  })
}
`

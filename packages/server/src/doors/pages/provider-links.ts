export const PROVIDER_PATH = '/login/with'

/** Asks for the provider to be a way into the account somebody is signed in with. */
export const LINK = 'link'

export const providerPath = (id: string, returnTo: string, { linking = false } = {}): string =>
  `${PROVIDER_PATH}?provider=${encodeURIComponent(id)}&${linking ? `${LINK}=1&` : ''}return_to=${encodeURIComponent(returnTo)}`

/** Why somebody came back from a provider without being signed in. What else stands in the address is not shown. */
export function problemOf(error: string | null): string | undefined {
  if (error === null) return undefined
  switch (error) {
    case 'access_denied':
      return 'You did not allow the provider to sign you in.'
    case 'account_not_linked':
      return 'There is an account with this address already. Sign in with its password.'
    case 'SIGN_UP_CLOSED':
      return 'There is no account for this address, and this server does not make one by itself.'
    case 'email_does_not_match':
      return 'The provider knows you by another address than this account has.'
    case 'account_already_linked_to_different_user':
      return 'With this provider you come into another account already.'
    case 'email_not_found':
      return 'The provider did not tell your address.'
    default:
      return 'The provider did not sign you in. Try again.'
  }
}

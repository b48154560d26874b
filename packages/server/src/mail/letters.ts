import type { Letter } from './service.ts'

/** An invitation, with the link that accepts it. */
export const invitationLetter = (invitation: {
  to: string
  org: string
  inviter: string
  url: string
  endsAt: number
}): Letter => ({
  to: invitation.to,
  subject: `You are invited to join ${plainName(invitation.org)}`,
  text: `${plainName(invitation.inviter)} has invited you to join the organization ${plainName(invitation.org)} on Trellis.

To accept, open this link:

${invitation.url}

It works once, for this address, until ${day(invitation.endsAt)}. If you do not know why you got this, do nothing.
`,
  endsAt: invitation.endsAt,
})

/** Asks whether an address is that of whoever signed up with it. */
export const verificationLetter = (verification: { to: string; url: string; endsAt: number }): Letter => ({
  to: verification.to,
  subject: 'Confirm your address',
  text: `Somebody signed up on Trellis with this address. If that was you, open this link and confirm it there:

${verification.url}

It works until ${day(verification.endsAt)}. If it was not you, do nothing.
`,
  endsAt: verification.endsAt,
})

export const resetLetter = (reset: { to: string; url: string; endsAt: number }): Letter => ({
  to: reset.to,
  subject: 'Set a new password',
  text: `Somebody asked for a new password for your account on Trellis. To set one, open this link:

${reset.url}

It works once, for an hour. If it was not you who asked, do nothing: your password stays as it is.
`,
  endsAt: reset.endsAt,
})

/** Asks whether an address is that of whoever wants it for their account. */
export const addressChangeLetter = (change: { to: string; url: string; endsAt: number }): Letter => ({
  to: change.to,
  subject: 'Confirm your new address',
  text: `Somebody wants to use this address for their account on Trellis. If that was you, open this link and confirm it there,
signed in to the account:

${change.url}

It works until ${day(change.endsAt)}. If it was not you, do nothing.
`,
  endsAt: change.endsAt,
})

/** To the address that was theirs before. */
export const addressChangedLetter = (changed: { to: string; endsAt: number }): Letter => ({
  to: changed.to,
  subject: 'Your address is changed',
  text: `Your account on Trellis has another address now, which was confirmed; this one is not used any more.

If it was not you who changed it, tell whoever runs the server at once.
`,
  endsAt: changed.endsAt,
})

const MAX_NAME = 60

/**
 * A name that somebody chose, in a letter to somebody else: one line, and nothing that a mail program would make a link
 * of.
 */
const plainName = (name: string): string =>
  name
    .replaceAll(/[^\p{L}\p{M}\p{N}'&_-]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME) || 'somebody'

const day = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

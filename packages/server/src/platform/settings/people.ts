import * as z from 'zod'
import { defaulted, httpUrl, isDecodable, oneOf, setting, text } from './kinds.ts'

/** Who owns the server, and how people come in. */
export const peopleSettings = {
  TRELLIS_OWNER_EMAIL: defaulted(
    'Address of the account made at the first start. The link printed then can change it.',
    'owner@trellis.local',
    z.email('must be an email address'),
  ),
  TRELLIS_OWNER_KEY: setting(
    'API key of that account, for automation: any secret of 16 characters or more. It is read at every start: another one replaces the one before. Default: made at the first start and kept in the data directory as `owner.key`.',
    z.string().min(16, 'must have at least 16 characters'),
  ),
  TRELLIS_OWNER_PASSWORD: setting(
    'Password of that account, at the first start. Default: none until the link printed then is used.',
    z.string().min(10, 'must have at least 10 characters').max(256),
  ),
  TRELLIS_SIGN_UP: defaulted(
    'Who may sign up: `open` to all, `invited` for people an organization has invited, or `closed`.',
    'open',
    oneOf('open', 'invited', 'closed'),
  ),
  TRELLIS_SMTP_URL: setting(
    'Server that mail is sent through, such as `smtps://user:password@mail.example.com`: invitations, confirmations of addresses, new passwords. With a password it has to offer encryption. Default: no mail; links are shown to whoever may hand them over.',
    z
      .url({ protocol: /^smtps?$/, error: 'must be an smtp or smtps URL' })
      .refine(isDecodable, 'must have user name and password percent-encoded'),
  ),
  TRELLIS_MAIL_FROM: setting(
    'Address that mail comes from. Default: `trellis` at the host of the base URL.',
    z.email('must be an email address'),
  ),
  TRELLIS_GITHUB_URL: defaulted(
    'Sign-in with GitHub: where it is, for an Enterprise Server of your own.',
    'https://github.com',
    httpUrl,
  ),
  TRELLIS_GITHUB_CLIENT_ID: setting('Sign-in with GitHub: client id of the OAuth app.', text),
  TRELLIS_GITHUB_CLIENT_SECRET: setting('Sign-in with GitHub: client secret.', text),
  TRELLIS_OIDC_ISSUER: setting('Sign-in with an OpenID Connect provider: its issuer URL.', httpUrl),
  TRELLIS_OIDC_NAME: defaulted('What the provider is called on the sign-in page.', 'Single sign-on', text),
  TRELLIS_OIDC_CLIENT_ID: setting('Sign-in with an OpenID Connect provider: client id.', text),
  TRELLIS_OIDC_CLIENT_SECRET: setting('Sign-in with an OpenID Connect provider: client secret.', text),
  TRELLIS_ANONYMOUS: defaulted(
    'Whether callers without an account are served: agents that register themselves, invites to new repositories. `on` or `off`.',
    'on',
    oneOf('on', 'off'),
  ),
}

/**
 * The words that begin the addresses of the server itself, or may one day: an organization is at `/{slug}`, so none is
 * to be called so. Those that were before are at `/o/{slug}`, where every organization is.
 */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  ...['about', 'account', 'admin', 'agent', 'api', 'assets', 'auth', 'claim', 'confirm-address', 'console'],
  ...[
    'docs',
    'enter',
    'favicon',
    'forgot-password',
    'git',
    'healthz',
    'help',
    'i',
    'invitations',
    'invites',
    'join',
    'limits',
    'login',
  ],
  ...[
    'logout',
    'metrics',
    'new',
    'new-address',
    'o',
    'oauth2',
    'organizations',
    'people',
    'public',
    'readyz',
    'reference',
  ],
  ...[
    'repositories',
    'reset-password',
    'robots',
    'schemas',
    'search',
    'settings',
    'sign-in',
    'signup',
    'static',
  ],
  ...['status', 'support', 'trellis', 'welcome', 'well-known', 'www'],
])

/**
 * The pages of an organization, at `/{slug}/{page}`. A repository may be called like one, so it is at `/{slug}/-/{name}`,
 * where every repository is.
 */
export const ORG_PAGES: ReadonlySet<string> = new Set(['activity', 'agents', 'people', 'settings'])

/** Between an organization and a repository whose name is a page's. No repository is called so. */
export const REPO_MARK = '-'

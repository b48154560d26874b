import { defaulted, GB, MB, wholeNumber } from './kinds.ts'

/** How much of each there may be. */
export const limitSettings = {
  TRELLIS_MAX_BODY_BYTES: defaulted('Largest JSON body.', String(MB), wholeNumber(1024, 1024 * MB)),
  TRELLIS_PUSH_MAX_BYTES: defaulted('Largest push.', String(2 * GB), wholeNumber(1024)),
  TRELLIS_PUSH_MAX_REFS: defaulted('Refs that one push may move.', '50000', wholeNumber(1, 100_000)),
  TRELLIS_COMMIT_MAX_BYTES: defaulted(
    'Largest body of git/commits/create.',
    String(50 * MB),
    wholeNumber(1024, 1024 * MB),
  ),
  TRELLIS_REPO_MAX_BYTES: defaulted('Largest repository.', String(10 * GB), wholeNumber(1024)),
  TRELLIS_REPO_MAX_REFS: defaulted('Refs of a repository.', '100000', wholeNumber(1)),
  TRELLIS_ORG_MAX_BYTES: defaulted(
    'All repositories of an organization together.',
    String(100 * GB),
    wholeNumber(1024),
  ),
  TRELLIS_CLONE_CACHE_BYTES: defaulted(
    'Disk space for the answers to clones, so that the next clone of the same commit costs nothing.',
    String(2 * GB),
    wholeNumber(0),
  ),
  TRELLIS_OBJECT_MEMORY_BYTES: defaulted(
    'Memory for git objects that were read and for indexes of packs, so that the next who asks needs neither disk nor git. One organization may have three quarters of it.',
    String(128 * MB),
    wholeNumber(0),
  ),
  TRELLIS_UNREACHABLE_HOURS: defaulted(
    'How long commits that no ref leads to any more, as of a deleted branch, are kept and can be had back by their id.',
    '168',
    wholeNumber(1, 24 * 3650),
  ),
  TRELLIS_GIT_PROCESSES: defaulted(
    'Git processes that may run at once; more wait in line, each organization in turn.',
    '8',
    wholeNumber(1, 1000),
  ),
  TRELLIS_ORG_MAX_REPOS: defaulted('Repositories in an organization.', '10000', wholeNumber(1)),
  TRELLIS_PROVISIONAL_HOURS: defaulted(
    'How long repositories of anonymous callers last unless somebody signs in and keeps them.',
    '24',
    wholeNumber(1, 24 * 365),
  ),
  TRELLIS_PROVISIONAL_MAX_REPOS: defaulted(
    'Repositories in the organization of an unclaimed agent or an anonymous caller.',
    '20',
    wholeNumber(1),
  ),
  TRELLIS_PROVISIONAL_MAX_BYTES: defaulted(
    'All repositories of such an organization together.',
    String(GB),
    wholeNumber(1024),
  ),
  TRELLIS_ADDRESS_MAX_AGENTS: defaulted(
    'Agents that may register from one address in a day (not for loopback).',
    '60',
    wholeNumber(0),
  ),
  TRELLIS_ADDRESS_MAX_ANONYMOUS_REPOS: defaulted(
    'Live repositories of anonymous callers at one address (not for loopback).',
    '100',
    wholeNumber(0),
  ),
  TRELLIS_REPO_MAX_WEBHOOKS: defaulted(
    'Webhooks of a repository, beside those that it declares itself.',
    '250',
    wholeNumber(1),
  ),
  TRELLIS_REPO_MAX_TOKENS: defaulted(
    'Tokens of a repository that work at the same time, clones taken from invites among them.',
    '10000',
    wholeNumber(1, 100_000),
  ),
  TRELLIS_CALLER_MAX_INVITES: defaulted(
    'Invites of one person, agent or anonymous caller that work at the same time.',
    '10000',
    wholeNumber(1, 100_000),
  ),
  TRELLIS_REPO_MAX_SECRETS: defaulted(
    'Secrets of a repository that its extensions may be given.',
    '100',
    wholeNumber(0, 10_000),
  ),
  TRELLIS_RECORD_MAX_ROWS: defaulted(
    'Rows of a record collection. What they take counts against the bytes of the organization.',
    '1000000',
    wholeNumber(1),
  ),
  TRELLIS_WEBHOOK_MAX_PENDING_BYTES: defaulted(
    'What may be pending for a webhook: bodies, and 512 bytes for each delivery. Beyond it, deliveries are dropped.',
    String(8 * MB),
    wholeNumber(1024),
  ),
  TRELLIS_USER_MAX_ORGS: defaulted('Organizations a person may own.', '100', wholeNumber(1)),
  TRELLIS_USER_MAX_KEYS: defaulted('API keys a person may have in an organization.', '100', wholeNumber(1)),
}

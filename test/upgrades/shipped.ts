/**
 * The last commit of each schema that people could have data of. Steps on the way from one to the next are gone through by
 * the older ones. A schema that a commit changes gets a line here, with
 * the commit before it, and a fixture made of that. Those that people ran for long are looked at in full, with
 * stock git, and killed as well as stopped. The others differ by a schema only.
 */
export const SHIPPED: { commit: string; inFull?: true }[] = [
  { commit: '652ee0b' },
  // Two that were made with a migration 2 that was edited later: `packs` has no `unlisted_at`.
  { commit: '60b8e60' },
  { commit: '56d20dd' },
  // The one after it does not start.
  { commit: '9fe045d' },
  { commit: '00afd84' },
  { commit: 'bb9d45f', inFull: true },
  { commit: 'c3cc009' },
  { commit: '2d18a01' },
  { commit: '6615ef9' },
  { commit: 'ab5e912' },
  { commit: 'f1db8b6' },
]

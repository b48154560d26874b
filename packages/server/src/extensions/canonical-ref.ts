import type { RefName } from '../git/names.ts'

/** Where the commit is whose extensions are in force. Nobody moves it but a promotion. */
export const CANONICAL_REF = 'refs/trellis/canonical' as RefName

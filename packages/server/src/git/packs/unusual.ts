/** Something that is left to git: large, rare or damaged. Nobody outside of here sees it. */
export class Unusual extends Error {
  override readonly name = 'Unusual'
  /** It does not read as it was written. */
  readonly isDamage: boolean
  constructor(what: string, isDamage = false) {
    super(what)
    this.isDamage = isDamage
  }
}

export const damage = (what: string): Unusual => new Unusual(what, true)

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { globProblem, globs } from './globs.ts'

function expectMatches(pattern: string, wanted: string[], unwanted: string[]): void {
  const isMatch = globs([pattern])
  for (const text of wanted) assert.ok(isMatch(text), `${pattern} does not match ${text}`)
  for (const text of unwanted) assert.ok(!isMatch(text), `${pattern} matches ${text}`)
}

describe('a pattern', () => {
  it('without anything special matches itself', () => {
    expectMatches('main', ['main'], ['', 'mai', 'mainly', 'x/main', 'MAIN'])
    expectMatches('größe/😀', ['größe/😀'], ['größe/😁'])
  })

  it('has stars that stop at slashes, and double ones that do not', () => {
    expectMatches('release/*', ['release/1', 'release/', 'release/.x'], ['release', 'release/1/2'])
    expectMatches('*.md', ['a.md', '.md'], ['a/b.md', 'a.mdx'])
    expectMatches('a*b*c', ['abc', 'axbxc', 'abbcc'], ['ab', 'a/bc'])
    expectMatches('**', ['', 'a', 'a/b/c'], [])
    expectMatches('src/**', ['src/a', 'src/a/b'], ['src', 'source/a'])
    expectMatches('**/*.ts', ['a.ts', 'a/b.ts', 'a/b/c.ts'], ['a.tsx', 'a/b'])
    expectMatches('a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['az', 'a/bz', 'a/b/c'])
    expectMatches('**/a/**/b', ['a/b', 'x/a/b', 'x/a/y/b'], ['ab', 'a/xb', 'b'])
  })

  it('has single characters, sets and choices', () => {
    expectMatches('v?', ['v1', 'v😀'], ['v', 'v10', 'v/'])
    expectMatches('v[0-9a]', ['v0', 'v9', 'va'], ['vb', 'v', 'v-'])
    expectMatches('v[!0-9]', ['vb'], ['v0', 'v/'])
    expectMatches('v[]a]', ['v]', 'va'], ['vb'])
    expectMatches('{main,dev,release/*}', ['main', 'dev', 'release/1'], ['maindev', 'release'])
    expectMatches('a{,b}c', ['ac', 'abc'], ['abbc'])
    expectMatches('{a,b{c,d}}e', ['ae', 'bce', 'bde'], ['be', 'abce'])
  })

  it('takes what is not closed, or has no choice, as it stands', () => {
    expectMatches('a[b', ['a[b'], ['ab'])
    expectMatches('a{b', ['a{b'], ['ab'])
    expectMatches('a{b}', ['a{b}'], ['ab'])
    expectMatches('a}b', ['a}b'], [])
  })

  it('in a list takes away what begins with an exclamation mark', () => {
    const isMatch = globs(['**', '!docs/**'])
    assert.deepEqual([isMatch('src/a'), isMatch('docs/a')], [true, false])
    assert.deepEqual([globs(['!main'])('dev'), globs(['!main'])('main')], [true, false])
  })

  it('is refused when it is empty, too long, or means something elsewhere', () => {
    for (const bad of ['', '!', 'x'.repeat(257), '+(a|aa)', 'a\\b', 'a\0', 'a\nb'])
      assert.ok(globProblem(bad), bad)
    for (const good of ['*a*a*a*', '**/**/**', '{,a}'.repeat(60), '[a-z]?', '!x'])
      assert.equal(globProblem(good), undefined, good)
  })

  // A matcher that tries one way after the other would not come back from any of these.
  it('takes a number of steps that is bounded by its length and that of the text', {
    timeout: 300_000,
  }, () => {
    const hostile = [
      '{,a}'.repeat(60),
      '*a'.repeat(128),
      '**/'.repeat(80),
      '{a,{a,{a,{a,{a,*}}}}}'.repeat(10),
    ]
    const texts = ['a'.repeat(1024), 'a/'.repeat(512), `${'a'.repeat(1023)}b`]
    for (const pattern of hostile) for (const text of texts) globs([pattern])(text)
    assert.equal(globs(['{,a}'.repeat(60)])('a'.repeat(60)), true)
    assert.equal(globs(['{,a}'.repeat(60)])('a'.repeat(61)), false)
  })

  it('never throws, whatever it is', () => {
    const text = fc.string({
      maxLength: 40,
      unit: fc.constantFrom('a', 'b', '/', '*', '?', '[', ']', '{', '}', ',', '!', '-', '^'),
    })
    fc.assert(fc.property(text, text, (pattern, against) => typeof globs([pattern])(against) === 'boolean'))
  })

  it('agrees with a regular expression where one is easily written', () => {
    const unit = fc.constantFrom('a', 'b', '/')
    const pattern = fc.array(fc.constantFrom('a', 'b', '/', '*', '?', '{a,b/}'), { maxLength: 6 })
    const asRegExp: Record<string, string> = { '*': '[^/]*', '?': '[^/]', '{a,b/}': '(?:a|b/)' }
    fc.assert(
      fc.property(pattern, fc.string({ maxLength: 8, unit }), (parts, text) => {
        // Two stars side by side mean something else.
        fc.pre(!parts.join('').includes('**'))
        const expected = new RegExp(`^${parts.map((part) => asRegExp[part] ?? part).join('')}$`).test(text)
        assert.equal(globs([parts.join('')])(text), expected)
      }),
      { numRuns: 2000 },
    )
  })
})

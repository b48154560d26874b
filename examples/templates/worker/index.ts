import type { Context } from '@trellis/extension'

interface Input {
  path?: string
}

/** `ctx` has what `capabilities` in extension.json ask for; name the same ones here for the types. */
export default async function ({ path = 'README.md' }: Input, ctx: Context<'repo:read'>) {
  const text = await ctx.repo.readText(path)
  if (text === null) throw new Error(`There is no ${path}`)
  ctx.log(`read ${path}`, { characters: text.length })
  return { path, lines: text.split('\n').length - 1 }
}

import type { Repo } from '@trellis/contract'
import { Command } from '../../ui/Code.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'

const commands = ({ name, remote, defaultBranch }: Repo): string =>
  String.raw`git clone ${remote} && cd ${name}
mkdir -p extensions/hello
cat > extensions/hello/extension.json <<'END'
{
  "version": 1,
  "name": "hello",
  "description": "Tells how long the README is",
  "dispatch": true,
  "capabilities": ["repo:read"]
}
END
cat > extensions/hello/index.ts <<'END'
export default async function (input, ctx) {
  const text = (await ctx.repo.readText('README.md')) ?? ''
  ctx.log('read the README')
  return { lines: text.split('\n').length }
}
END
git add extensions && git commit -m 'Say hello'
git push origin HEAD:${defaultBranch}`

/** How a repository gets its first program. */
export const FirstExtension = ({ repo, isEmpty }: { repo: Repo; isEmpty: boolean }) => (
  <EmptyState title={isEmpty ? 'Nothing has been pushed yet' : 'No extensions here yet'}>
    <p>
      An extension is a folder with two files: a descriptor that says what it may do and what starts it, and a
      module with one function. Push these, and they show up here:
    </p>
    <Command>{commands(repo)}</Command>
    <p>
      Then promote the branch. From then on it may do what the descriptor asks for, and can be run from its
      page here.
    </p>
  </EmptyState>
)

import type { FileChange } from './use-diff.ts'

/** A directory with what changed in it, or a file. */
export type Node =
  | { kind: 'directory'; name: string; path: string; children: Node[] }
  | { kind: 'file'; name: string; file: FileChange }

/** Files as a tree. Directories that hold nothing but a directory are one row with it. */
export function toTree(files: readonly FileChange[]): Node[] {
  const root: Node = { kind: 'directory', name: '', path: '', children: [] }
  const directories = new Map<string, Node & { kind: 'directory' }>([['', root]])
  const directoryAt = (path: string): Node & { kind: 'directory' } => {
    const known = directories.get(path)
    if (known) return known
    const slash = path.lastIndexOf('/')
    const made: Node = { kind: 'directory', name: path.slice(slash + 1), path, children: [] }
    directories.set(path, made)
    directoryAt(slash < 0 ? '' : path.slice(0, slash)).children.push(made)
    return made
  }
  for (const file of files) {
    const slash = file.path.lastIndexOf('/')
    const parent = directoryAt(slash < 0 ? '' : file.path.slice(0, slash))
    parent.children.push({ kind: 'file', name: file.path.slice(slash + 1), file })
  }
  return root.children.map(join)
}

function join(node: Node): Node {
  if (node.kind === 'file') return node
  const children = node.children.map(join)
  const [only] = children
  if (children.length === 1 && only?.kind === 'directory')
    return { ...only, name: `${node.name}/${only.name}` }
  return { ...node, children }
}

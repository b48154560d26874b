import type { TestContext } from 'node:test'

/** For what a test must undo whether it passes or not: the last thing done is undone first. */
export function afterwards(t: TestContext): (undo: () => Promise<unknown>) => void {
  const steps: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const undo of steps.reverse()) await undo()
  })
  return (undo) => {
    steps.push(undo)
  }
}

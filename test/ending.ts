/** What closes by itself has closed by then. */
const PATIENCE_MS = 30_000

/** Ends this process, whose tests are done, should it not end by itself; otherwise all would wait for what they left. */
export function endSoon(): void {
  setTimeout(() => {
    console.error(`The tests are done, and still there is: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, PATIENCE_MS).unref()
}

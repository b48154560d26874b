const { gc: collect } = globalThis as { gc?: () => void }

/**
 * Collects garbage now and then. What a run leaves behind is small for V8 and large outside of it, so V8 would not do it in
 * time: 28 KB a run. A module can do it too, which costs nobody anything but itself.
 */
export function collectEvery(runs: number): () => void {
  let left = runs
  return () => {
    if (--left > 0) return
    left = runs
    collect?.()
  }
}

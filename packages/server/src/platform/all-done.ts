/** Like Promise.all, but a failure is thrown only when all have ended. */
export async function allDone<T extends readonly unknown[]>(
  work: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work)
  return Promise.all(work) as Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>
}

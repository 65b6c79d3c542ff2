/** What `work` gives, or the signal's reason as soon as it aborts. The work itself goes on; how it ends bothers nobody. */
export async function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      signal.removeEventListener('abort', wake)
      resolve()
    }
    signal.addEventListener('abort', wake)
    work.then(wake, wake)
    if (signal.aborted) wake()
  })
  signal.throwIfAborted()
  return work
}

/** Waits for shared work no longer than until the signal aborts; then throws its reason. The work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  await new Promise<void>((resolve) => {
    const wake = () => {
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

/** Runs the work at once and returns its result as a promise. An error rejects the promise. */
export function toPromise<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}

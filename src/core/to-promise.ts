/** Does the work at once and gives what comes of it as a promise, also what it throws. */
export function toPromise<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work())
  })
}

/** Calls back behind the promises that are ready, so that what they bring is seen together. A timer comes closest elsewhere. */
export function afterPromises(callback: () => void): void {
  if (typeof process === 'object' && typeof process.nextTick === 'function') process.nextTick(callback)
  else setTimeout(callback, 0)
}

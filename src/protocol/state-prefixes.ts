/** State of the application as a whole: `app:` keys. Private. */
const appPrefix = 'app:'

/** State of one user in all of the user's threads: `user:` keys. Private. */
const userPrefix = 'user:'

/** State of one run: `temp:` keys. Private, and never stored. */
const runPrefix = 'temp:'

/** Whether a top-level key of the state lives for one run only. Such keys are never stored. */
export function isRunStateKey(key: string): boolean {
  return key.startsWith(runPrefix)
}

/** Whether a top-level key of the state belongs to the thread. All other keys are private: they never leave the server. */
export function isThreadStateKey(key: string): boolean {
  return !key.startsWith(appPrefix) && !key.startsWith(userPrefix) && !key.startsWith(runPrefix)
}

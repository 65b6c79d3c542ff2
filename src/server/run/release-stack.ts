type Release = () => void | Promise<void>

/** What a run holds while it is live: its slot, its lease, the application's lock. Released last in, first out. */
export class ReleaseStack {
  readonly #onProblem: (error: unknown) => void
  #last: Deferred | undefined

  /** `onProblem` gets the error of a release that failed. The others are called all the same. */
  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem
  }

  defer(release: Release): void {
    this.#last = { release, before: this.#last }
  }

  /** Calls each release once. Never rejects. */
  async releaseAll(): Promise<void> {
    for (let deferred = this.#last; deferred; deferred = this.#last) {
      this.#last = deferred.before
      try {
        await deferred.release()
      } catch (error) {
        this.#onProblem(error)
      }
    }
  }
}

interface Deferred {
  readonly release: Release
  readonly before: Deferred | undefined
}

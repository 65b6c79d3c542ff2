type Release = () => void | Promise<void>

/** What a run holds while it is at work, and gives back when it is over. */
export interface Holds {
  add(release: Release | undefined): void
  /** Gives all back, the last taken first. Does nothing the second time. Never rejects. */
  free(): Promise<void>
}

/** `onProblem` is told of what could not be given back. The rest is all the same. */
export function createHolds(onProblem: (error: unknown) => void): Holds {
  return new HeldThings(onProblem)
}

class HeldThings implements Holds {
  readonly #onProblem: (error: unknown) => void
  #last: Held | undefined

  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem
  }

  add(release: Release | undefined): void {
    if (release) this.#last = { release, before: this.#last }
  }

  async free(): Promise<void> {
    for (let held = this.#last; held; held = this.#last) {
      this.#last = held.before
      try {
        await held.release()
      } catch (error) {
        this.#onProblem(error)
      }
    }
  }
}

interface Held {
  readonly release: Release
  readonly before: Held | undefined
}

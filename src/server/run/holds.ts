type Release = () => void | Promise<void>

/** What a run holds while it is at work, and gives back when it is over. */
export interface Holds {
  add(release: Release | undefined): void
  /** Gives all back, the last taken first. Does nothing the second time. Never rejects. */
  free(): Promise<void>
}

/** `onProblem` is told of what could not be given back. The rest is all the same. */
export function createHolds(onProblem: (error: unknown) => void): Holds {
  const held: Release[] = []
  return {
    add(release) {
      if (release) held.push(release)
    },
    async free() {
      for (let release = held.pop(); release; release = held.pop()) {
        try {
          await release()
        } catch (error) {
          onProblem(error)
        }
      }
    },
  }
}

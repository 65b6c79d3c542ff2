import { threadKeyText } from '../../threads/thread-key.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { RunRecording, TakeBytes } from './recording.js'

/** What the process remembers of runs, live ones included. */
export interface RunMemoryLimits {
  readonly runs: number
  readonly bytes: number
  readonly bytesPerRun: number
}

export const defaultMemoryLimits: RunMemoryLimits = {
  runs: 500,
  bytes: 64 * 1024 * 1024,
  bytesPerRun: 8 * 1024 * 1024,
}

/** The recordings of runs, the oldest first. Forgets runs that are over to stay within its limits. */
export class RunMemory {
  readonly #recordings = new Map<string, RunRecording>()
  readonly #limits: RunMemoryLimits
  #bytes = 0

  constructor(limits: RunMemoryLimits) {
    this.#limits = limits
  }

  all(): RunRecording[] {
    return [...this.#recordings.values()]
  }

  find(key: ThreadKey, runId: string): RunRecording | undefined {
    return this.#recordings.get(nameOf(key, runId))
  }

  add(recording: RunRecording): void {
    const name = nameOf(recording.key, recording.runId)
    // A client may answer with the id of the run that it answers.
    this.#forget(name)
    while (this.#recordings.size >= this.#limits.runs) if (!this.#forgetOne(() => 1)) break
    this.#recordings.set(name, recording)
    this.#bytes += recording.bytes
  }

  readonly take: TakeBytes = (recording, bytes) => {
    const { bytes: all, bytesPerRun } = this.#limits
    if (recording.end || recording.bytes + bytes > bytesPerRun) return false
    while (this.#bytes + bytes > all) if (!this.#forgetOne((one) => one.bytes)) return false
    recording.bytes += bytes
    // Those of requests count when they have become runs: refused ones are gone at once.
    if (recording.run) this.#bytes += bytes
    return true
  }

  /** Forgets the oldest run that is over of the user who takes most: nobody's runs push out those of others. */
  #forgetOne(measure: (recording: RunRecording) => number): boolean {
    const shares = new Map<string, number>()
    for (const recording of this.#recordings.values())
      shares.set(ownerOf(recording), (shares.get(ownerOf(recording)) ?? 0) + measure(recording))
    for (const [owner] of [...shares].sort(([, one], [, other]) => other - one))
      for (const [name, recording] of this.#recordings)
        if (recording.end && ownerOf(recording) === owner) return this.#forget(name)
    return false
  }

  #forget(name: string): boolean {
    this.#bytes -= this.#recordings.get(name)?.bytes ?? 0
    return this.#recordings.delete(name)
  }
}

function nameOf(key: ThreadKey, runId: string): string {
  return JSON.stringify([threadKeyText(key), runId])
}

function ownerOf({ key }: RunRecording): string {
  return JSON.stringify([key.app, key.user])
}

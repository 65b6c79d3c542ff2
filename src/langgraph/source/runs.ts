/** What a run of LangChain is, when events tell of it. */
export type RunKind = 'node' | 'graph' | 'model' | 'tool'

/** A run that is going on. */
interface OpenRun {
  readonly kind: RunKind
  /** What it was started with. */
  readonly input?: unknown
  readonly name?: string
}

/**
 * The runs that are going on. LangChain has many more of them than events tell of: functions, sequences, routers. Those
 * are only passed through, so that what is inside them is part of the next run around that events do tell of.
 */
export interface Runs {
  /** Notes a run that events tell of. Gives the run it is part of; undefined for the graph itself. */
  open(runId: string, parentRunId: string | undefined, run: OpenRun): string | undefined
  /** Notes a run that nobody hears of. */
  pass(runId: string, parentRunId: string | undefined): void
  get(runId: string | undefined): OpenRun | undefined
  /** The run itself if events tell of it, else the next around it that they tell of. */
  shown(runId: string | undefined): string | undefined
  /** Ends a run. Gives what it was; undefined for one that nobody has heard of. */
  close(runId: string): OpenRun | undefined
}

export function createRuns(): Runs {
  const open = new Map<string, OpenRun>()
  const passed = new Map<string, string | undefined>()
  const shown = (runId: string | undefined): string | undefined => {
    if (runId === undefined || open.has(runId)) return runId
    return passed.get(runId)
  }
  return {
    open(runId, parentRunId, run) {
      open.set(runId, run)
      return shown(parentRunId)
    },
    pass(runId, parentRunId) {
      passed.set(runId, shown(parentRunId))
    },
    get: (runId) => (runId === undefined ? undefined : open.get(runId)),
    shown,
    close(runId) {
      passed.delete(runId)
      const run = open.get(runId)
      open.delete(runId)
      return run
    },
  }
}

import { isRecord } from '../../core/is-record.js'

/** The arguments of `handleChainStart`. LangChain's types name the last four in another order than it sends them. */
export interface ChainStart {
  readonly serialized: unknown
  readonly input: unknown
  readonly runId: string
  readonly parentRunId: string | undefined
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly name: string | undefined
}

/** LangGraph's default name of a graph. */
export const defaultGraphName = 'LangGraph'

/** Whether a chain is a graph. Some functions of LangGraph have an id that begins with `langgraph` too. */
export function isGraphChain({ serialized }: ChainStart): boolean {
  const id = isRecord(serialized) ? serialized.id : undefined
  return Array.isArray(id) && id[0] === 'langgraph' && id[1] === 'pregel'
}

/** Whether a chain is a node of a graph. */
export function isNodeChain({ tags, metadata, name }: ChainStart): boolean {
  return (
    name !== undefined &&
    name === metadata.langgraph_node &&
    tags.some((tag) => tag.startsWith('graph:step:'))
  )
}

/** Whether a chain is machinery of LangGraph. */
export function isHiddenChain({ tags }: ChainStart): boolean {
  return tags.includes('langsmith:hidden')
}

/** The kinds of LangChain runs that native events are about. */
export type NativeRunKind = 'node' | 'graph' | 'model' | 'tool'

interface OpenNativeRun {
  readonly kind: NativeRunKind
  readonly input?: unknown
  readonly name?: string
}

/**
 * The LangChain runs that are open. LangChain has many more runs than native events are about: functions, sequences,
 * routers. Those are skipped, and what runs inside them belongs to the next run around that is not.
 */
export class OpenRuns {
  readonly #open = new Map<string, OpenNativeRun>()
  /** The nearest run around that has events, by skipped run. */
  readonly #skipped = new Map<string, string | undefined>()

  get(runId: string | undefined): OpenNativeRun | undefined {
    return runId === undefined ? undefined : this.#open.get(runId)
  }

  /** Adds a run that has events. Returns the run around it; undefined for the root graph. */
  add(runId: string, parentRunId: string | undefined, run: OpenNativeRun): string | undefined {
    this.#open.set(runId, run)
    return this.visible(parentRunId)
  }

  /** Adds a run without events. */
  skip(runId: string, parentRunId: string | undefined): void {
    this.#skipped.set(runId, this.visible(parentRunId))
  }

  /** The run itself if it has events, else the nearest one around it that has. */
  visible(runId: string | undefined): string | undefined {
    return runId === undefined || this.#open.has(runId) ? runId : this.#skipped.get(runId)
  }

  /** Removes a run. Returns its kind; undefined for one without events. */
  remove(runId: string): NativeRunKind | undefined {
    this.#skipped.delete(runId)
    const run = this.#open.get(runId)
    this.#open.delete(runId)
    return run?.kind
  }
}

/** Where a run of LangChain stands: known when it starts, and the same until it ends. */
export interface Place {
  /** The subagent span that its events belong to. Undefined for the run's own. */
  readonly span: string | undefined
  /** What the names of its steps begin with, when graphs inside the graph have no span. */
  readonly prefix: string
  /** The tool call it works for, if any, as far as its own graph. */
  readonly toolCallId: string | undefined
}

/** Where a question was asked. */
export interface Asked {
  readonly subagentRunId: string | undefined
  readonly toolCallId: string | undefined
}

export interface Places {
  /** The place of a run; the graph's own for one that is not known. */
  of(runId: string | undefined): Place
  /** Notes a run inside another. What is not given is as it is around it. */
  enter(runId: string, parentRunId: string | undefined, own?: Partial<Place>): Place
  leave(runId: string): void
  /** Notes the questions that a run has stopped for. The innermost run comes first, and is the one that asks. */
  noteAsked(runId: string, error: unknown): void
  asked(interruptId: string): Asked | undefined
}

const top: Place = Object.freeze({ span: undefined, prefix: '', toolCallId: undefined })

export function createPlaces(): Places {
  const places = new Map<string, Place>()
  const asked = new Map<string, Asked>()
  const of = (runId: string | undefined): Place => (runId === undefined ? top : (places.get(runId) ?? top))
  return {
    of,
    enter(runId, parentRunId, own) {
      const around = of(parentRunId)
      const place = own ? { ...around, ...own } : around
      places.set(runId, place)
      return place
    },
    leave(runId) {
      places.delete(runId)
    },
    noteAsked(runId, error) {
      const { span: subagentRunId, toolCallId } = of(runId)
      for (const id of interruptIds(error)) {
        if (!asked.has(id)) asked.set(id, { subagentRunId, toolCallId })
      }
    },
    asked: (interruptId) => asked.get(interruptId),
  }
}

/** LangGraph throws its questions. */
function interruptIds(error: unknown): string[] {
  const { interrupts } = (error ?? {}) as { interrupts?: unknown }
  if (!Array.isArray(interrupts)) return []
  return interrupts.flatMap((entry: unknown) => {
    const { id } = (entry ?? {}) as { id?: unknown }
    return typeof id === 'string' ? [id] : []
  })
}

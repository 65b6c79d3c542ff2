import jsonpatch from 'fast-json-patch'
import { createFold, type AgentEvent, type AgUiEvent, type EventOf } from '../../protocol/index.js'

type StateEvent = EventOf<'STATE_SNAPSHOT' | 'STATE_DELTA'>

export interface RemoteStateOptions {
  /** The state as all in the run share it. */
  readonly shared: () => unknown
  readonly setState: (next: unknown) => AgentEvent
  readonly report: (problem: string) => void
}

/**
 * The agent's changes to the state, as changes to the state that all share. The agent works on the state it was started
 * with; what others have changed meanwhile stays, unless both have changed the same.
 */
export function createRemoteState({ shared, setState, report }: RemoteStateOptions) {
  const remote = createFold({ state: shared() })
  return {
    change(event: StateEvent): readonly AgentEvent[] {
      const before = remote.state
      const problem = remote.apply(event)
      if (problem !== undefined) {
        report(problem)
        return []
      }
      const { subagentRunId } = event
      const tag = subagentRunId === undefined ? {} : { subagentRunId }
      return [{ ...setState(merged({ before, after: remote.state, shared: shared() })), ...tag }]
    },
  }
}

interface Versions {
  readonly before: unknown
  readonly after: unknown
  readonly shared: unknown
}

function merged({ before, after, shared }: Versions): unknown {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after))
    return after
  const fold = createFold({ state: shared })
  // The library's operations are those of RFC 6902; only its type has a private one more.
  const change = { type: 'STATE_DELTA', delta: jsonpatch.compare(before, after) } as AgUiEvent
  return fold.apply(change) === undefined ? fold.state : after
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

import type { AgentEvent } from '../../protocol/index.js'

/** An argument of a tool that a client may show as state while the call is written. */
export interface PredictStateMapping {
  /** The member of the state that the call is going to change. */
  readonly stateKey: string
  /** The tool, by the name its agent knows it under. */
  readonly tool: string
  /** The argument that holds the new value. Default: all arguments together. */
  readonly toolArgument?: string
  /** Whether the person is asked, when the run is over, to keep the change: a call of `confirm_changes`. Default true. */
  readonly confirm?: boolean
}

/** The tool that AG-UI clients know as the question whether to keep what was predicted. */
export const confirmTool = 'confirm_changes'

/** The event that tells clients which calls to show as state. */
export function predictStateEvent(
  mappings: readonly PredictStateMapping[],
  wireName: (toolName: string) => string,
): AgentEvent {
  const value = mappings.map(({ stateKey, tool, toolArgument }) => ({
    state_key: stateKey,
    tool: wireName(tool),
    ...(toolArgument === undefined ? {} : { tool_argument: toolArgument }),
  }))
  return { type: 'CUSTOM', name: 'PredictState', value }
}

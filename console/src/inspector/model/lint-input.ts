import type { RunFile } from './run-file.js'
import type { ClientContent } from './time-travel.js'

/** The request that the linter compares the stream with: all that the client held, also what it had no need to send. */
export function toLintInput({ threadId, runId, input }: RunFile, start: ClientContent): unknown {
  if (!input) return undefined
  return {
    ...{ threadId, runId, tools: [], context: [], ...input },
    messages: start.messages,
    state: start.state,
  }
}

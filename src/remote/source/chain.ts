import type { RunAgentInput } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { AgUiAgent, AgUiStream } from '../options.js'

interface Middleware {
  run(input: RunAgentInput, next: unknown): AgUiStream
}

/**
 * A run of the agent through the middlewares it was given by `use`, as `runAgent` does it. They are kept in a member that
 * both generations of the client have, and that has no public name.
 */
export function runChain(agent: AgUiAgent, input: RunAgentInput): AgUiStream {
  const { messages, threadId } = input
  const state: unknown = input.state
  // What an agent of an older kind looks at, in the place of its input.
  Object.assign(agent, { messages, state, threadId })
  const given: unknown = Reflect.get(agent, 'middlewares')
  const middlewares = Array.isArray(given) ? given.filter(isMiddleware) : []
  const start = (last: RunAgentInput): AgUiStream => agent.run(last as never)
  return middlewares.reduceRight<typeof start>(
    (next, middleware) => (passed) => middleware.run(passed, { run: next, messages, state }),
    start,
  )(input)
}

function isMiddleware(value: unknown): value is Middleware {
  return isRecord(value) && typeof value.run === 'function'
}

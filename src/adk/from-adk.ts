import type { Agent, Control, RunContext } from '../agents/index.js'
import { createRunStream, type AgentEvent } from '../protocol/index.js'
import type { AdkOptions, AdkRoot } from './options.js'
import { runAdk } from './run/run-adk.js'
import { setUpAdk } from './run/setup.js'
import { createSessionMemory } from './session/session-memory.js'

/**
 * Makes an Agent of what ADK can run. Throws INVALID_AGENT, saying what is missing, for a root that cannot be served.
 *
 * @example
 * createServer({ agents: [fromAdk(new LlmAgent({ name: 'helper', model: 'gemini-2.5-flash' }))] })
 */
export function fromAdk(root: AdkRoot, options: AdkOptions = {}): Agent {
  const setup = setUpAdk(root, options)
  const { name, description } = setup
  const { examples, capabilities, messagesSnapshot = false } = options
  const memory = createSessionMemory(setup)
  return {
    name,
    description,
    hasNativeEvents: true,
    resumesAfterFailure: true,
    run: (ctx) => (messagesSnapshot ? withMessagesSnapshot(runAdk(setup, ctx), ctx) : runAdk(setup, ctx)),
    ...(memory && { memory }),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
  }
}

/**
 * Adds a MESSAGES_SNAPSHOT at the end: the messages that a client has made of the stream, with the same ids. An agent
 * below another one has no thread of its own, and adds none.
 */
async function* withMessagesSnapshot(
  events: AsyncGenerator<AgentEvent, Control>,
  { threadId, runId, messages, state, span }: RunContext,
): AsyncGenerator<AgentEvent, Control> {
  if (span.subagentRunId !== undefined) return yield* events
  const stream = createRunStream({ threadId, runId, messages, state, emit: () => undefined })
  let isOver = false
  try {
    for (;;) {
      const step = await events.next()
      isOver = step.done === true
      if (step.done === true) {
        yield { type: 'MESSAGES_SNAPSHOT', messages: [...stream.fold.messages] }
        return step.value
      }
      stream.write(step.value)
      yield step.value
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    if (!isOver) await events.return({ type: 'cancelled' })
  }
}

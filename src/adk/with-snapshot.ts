import type { Control, RunContext } from '../agents/index.js'
import { createRunStream, type AgentEvent } from '../protocol/index.js'

/**
 * The same events, and behind them all messages of the thread in one: what a client has made of the stream, with the
 * same ids. What runs below another agent has no thread of its own, and gets no such event.
 */
export async function* withSnapshot(
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

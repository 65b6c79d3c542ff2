import type { RunRecord, Thread, ThreadSummary } from './thread.js'

/** A thread as a list shows it. */
export function summaryOf(thread: Thread): ThreadSummary {
  const { key, version, createdAt, updatedAt, title, forkedFrom } = thread
  return {
    ...{ key, version, createdAt, updatedAt, title },
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    messageCount: thread.messages.length,
    interruptCount: thread.interrupts.length,
    pendingToolCallCount: thread.pendingToolCalls.length,
    ...(thread.run === undefined ? {} : { run: withoutStart(thread.run) }),
  }
}

function withoutStart({ start: _, ...run }: RunRecord): Omit<RunRecord, 'start'> {
  return run
}

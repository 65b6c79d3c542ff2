import { isAsyncGenerator } from '../../src/core/abortable.js'
import type { ToolContext } from '../../src/agents/contract.js'

/** The context of a tool call outside of any run. */
export function toolContext(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    app: 'default',
    user: 'local',
    claims: {},
    client: { tools: [], context: [], forwardedProps: undefined },
    threadId: 'thread-1',
    runId: 'run-1',
    toolCallId: 'call-1',
    toolName: 'tool',
    agentName: 'agent',
    signal: new AbortController().signal,
    messages: [],
    values: new Map(),
    state: undefined,
    resumed: undefined,
    setState: () => undefined,
    emit: () => undefined,
    exit: () => undefined,
    breakLoop: () => undefined,
    transfer: () => undefined,
    interrupt: () => Promise.reject(new Error('nobody to ask')),
    delegate: () => {
      throw new Error('no agents here')
    },
    ...changes,
  }
}

/** Runs a tool call to its end: what it yielded on the way and what it returned. */
export async function runToEnd(call: unknown): Promise<{ progress: unknown[]; result: unknown }> {
  const stream = await call
  const progress: unknown[] = []
  if (!isAsyncGenerator(stream)) return { progress, result: stream }
  for (;;) {
    const step = await stream.next()
    if (step.done === true) return { progress, result: step.value }
    progress.push(step.value)
  }
}

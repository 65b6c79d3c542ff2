import type { Context as TraceContext } from '@opentelemetry/api'
import { createQueue, type Queue } from '../../core/queue.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Control, RunContext, DelegatedEnd, ToolContext, ToolEnd, InterruptScope } from '../contract.js'
import { InterruptSignal } from '../interrupts/interrupt-scope.js'
import { addressOfCall, nameAt } from '../run/address.js'
import type { CallRequest } from './answer.js'

/** Thrown by `delegate` when its agent was stopped at a safe point: the call has no result yet, and goes on with the run. */
export class StoppedSignal extends Error {
  override readonly name = 'StoppedSignal'
}

/** Where a tool call stands in the tree. */
export function callAddress(ctx: RunContext, call: CallRequest): string {
  return addressOfCall(ctx.span.address, segmentOf(call))
}

function segmentOf({ name, id }: CallRequest): string {
  return `${name}:${id}`
}

export interface SessionOptions {
  readonly ctx: RunContext
  readonly asker: InterruptScope
  readonly signal: AbortSignal
  /** Of the call. */
  readonly trace: TraceContext
  /** The conversation up to and including the call. */
  readonly messages: () => ToolContext['messages']
}

/** One tool at work. */
export interface ToolSession {
  readonly ctx: ToolContext
  /** Set when the tool has ended the agent. */
  readonly end: ToolEnd | undefined
  /** Sends an event, and waits until it is taken. False when nobody takes any more. */
  readonly send: (event: AgentEvent) => Promise<boolean>
  /** Yields what the tool sends until it has settled, and gives or throws what it settled with. */
  readonly during: (work: Promise<unknown>) => AsyncGenerator<AgentEvent, unknown>
}

export function createSession(call: CallRequest, options: SessionOptions): ToolSession {
  // Of no size: who sends waits for the reader of the run.
  const outbox = createQueue<AgentEvent>({ capacity: 0 })
  const send = (event: AgentEvent): Promise<boolean> => outbox.push(event)
  let end: ToolEnd | undefined
  const onEnd = (how: ToolEnd): void => void (end = how)
  return {
    ctx: createToolContext(call, options, { send, onEnd }),
    get end() {
      return end
    },
    send,
    during: (work) => during(work, outbox),
  }
}

interface Doors {
  readonly send: ToolSession['send']
  readonly onEnd: (how: ToolEnd) => void
}

function createToolContext(call: CallRequest, options: SessionOptions, { send, onEnd }: Doors): ToolContext {
  const { ctx, asker, signal, trace, messages } = options
  let delegated = 0
  return {
    threadId: ctx.threadId,
    runId: ctx.runId,
    toolCallId: call.id,
    toolName: call.name,
    agentName: nameAt(ctx.span.address),
    timeoutMs: ctx.services.toolTimeoutMs,
    signal,
    get messages() {
      return messages()
    },
    values: ctx.values,
    get state() {
      return ctx.state
    },
    setState: (next) => void send(ctx.setState(next)),
    emit: (event) => void send(event),
    exit: (result = null) => onEnd({ type: 'exit', result }),
    breakLoop: () => onEnd({ type: 'break' }),
    transfer: (to) => onEnd({ type: 'transfer', to }),
    interrupt: asker.interrupt,
    resumed: asker.resumed,
    delegate(agent, { messages: given, isSilent = false }) {
      const nth = ++delegated
      const segment = nth === 1 ? segmentOf(call) : [segmentOf(call), String(nth)]
      const source = ctx.delegate(agent, { messages: given, segment, toolCallId: call.id, signal, trace })
      return relay(source, asker, isSilent ? undefined : send)
    },
  }
}

/** Sends what an agent does, at the pace of the reader. Its questions are those of the tool. */
async function* relay(
  source: AsyncGenerator<AgentEvent, Control>,
  asker: InterruptScope,
  send: ToolSession['send'] | undefined,
): AsyncGenerator<AgentEvent, DelegatedEnd> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done !== true) {
        await send?.(step.value)
        yield step.value
      } else if (step.value.type === 'interrupted') {
        // Noted, should the tool swallow it.
        asker.add(step.value)
        throw new InterruptSignal(step.value)
      } else if (step.value.type === 'cancelled') {
        throw new StoppedSignal(
          'The run stops here. Do not catch this: the tool runs again when the run goes on.',
        )
      } else return step.value
    }
  } finally {
    await source.return({ type: 'cancelled' })
  }
}

async function* during(
  work: Promise<unknown>,
  outbox: Queue<AgentEvent>,
): AsyncGenerator<AgentEvent, unknown> {
  const close = (): void => outbox.close()
  work.then(close, close)
  let isStopped = true
  try {
    yield* outbox
    isStopped = false
  } finally {
    // The tool has been told, and is given the time to clean up.
    if (isStopped) await work
  }
  return work
}

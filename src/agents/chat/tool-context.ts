import type { Context as TraceContext } from '@opentelemetry/api'
import { createQueue } from '../../core/queue.js'
import { toJson } from '../../core/to-json.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Control, DelegatedEnd, InterruptScope, RunContext, ToolContext, ToolEnd } from '../contract.js'
import { InterruptSignal } from '../interrupts/interrupt-scope.js'
import { addressOfCall, nameAt } from '../run/address.js'
import { toToolJson } from '../tools/tool-result.js'
import type { CallRequest } from './model-answer.js'

/** Thrown by `delegate` when its agent was stopped at a safe point: the call resumes with the run. */
export class StoppedSignal extends Error {
  override readonly name = 'StoppedSignal'
}

/** The address of a tool call. */
export function callAddress(ctx: RunContext, call: CallRequest): string {
  return addressOfCall(ctx.span.address, segmentOf(call))
}

function segmentOf({ name, id }: CallRequest): string {
  return `${name}:${id}`
}

export interface ActiveCallOptions {
  readonly ctx: RunContext
  readonly interrupts: InterruptScope
  readonly signal: AbortSignal
  /** The trace span of the call. */
  readonly trace: TraceContext
  /** The conversation up to and including the call. */
  readonly messages: () => ToolContext['messages']
}

/** A tool call that is running: the context of the tool, and the events it sends. */
export class ActiveCall {
  readonly ctx: ToolContext
  /** Set when the tool has ended the agent. */
  end: ToolEnd | undefined
  // Without capacity: a tool that sends waits for the reader of the run.
  readonly #events = createQueue<AgentEvent>({ capacity: 0 })

  constructor(call: CallRequest, options: ActiveCallOptions) {
    this.ctx = createToolContext(call, this, options)
  }

  /** Sends an event and waits until it is read. False when the reader has left. */
  send(event: AgentEvent): Promise<boolean> {
    return this.#events.push(event)
  }

  /** Yields the events of the tool until it has settled. Returns or throws what it settled with. */
  async *eventsDuring(work: Promise<unknown>): AsyncGenerator<AgentEvent, unknown> {
    const close = (): void => this.#events.close()
    work.then(close, close)
    let isStopped = true
    try {
      yield* this.#events
      isStopped = false
    } finally {
      // The signal has aborted: wait while the tool cleans up.
      if (isStopped) await work
    }
    return work
  }
}

function createToolContext(call: CallRequest, active: ActiveCall, options: ActiveCallOptions): ToolContext {
  const { ctx, interrupts, signal, trace, messages } = options
  let delegated = 0
  return {
    app: ctx.app,
    user: ctx.user,
    claims: ctx.claims,
    client: ctx.client,
    threadId: ctx.threadId,
    runId: ctx.runId,
    toolCallId: call.id,
    toolName: call.name,
    agentName: nameAt(ctx.span.address),
    signal,
    get messages() {
      return messages()
    },
    values: ctx.values,
    get state() {
      return ctx.state
    },
    setState: (next) => void active.send(ctx.setState(next)),
    // Checked here, where the tool can be told.
    emit: (event) => void active.send(toJson(event, event.type) as AgentEvent),
    exit: (result = null) => void (active.end = { type: 'exit', result: toToolJson(result, call.name) }),
    breakLoop: () => void (active.end = { type: 'break' }),
    transfer: (to) => void (active.end = { type: 'transfer', to }),
    interrupt: interrupts.interrupt,
    resumed: interrupts.resumed,
    delegate(agent, { messages: given, isSilent = false }) {
      const ordinal = ++delegated
      const segment = ordinal === 1 ? segmentOf(call) : [segmentOf(call), String(ordinal)]
      const source = ctx.delegate(agent, { messages: given, segment, toolCallId: call.id, signal, trace })
      return relay(source, interrupts, isSilent ? undefined : (event) => active.send(event))
    },
  }
}

/** Sends an agent's events at the pace of the reader. Its interrupts are those of the tool. */
async function* relay(
  source: AsyncGenerator<AgentEvent, Control>,
  interrupts: InterruptScope,
  send: ((event: AgentEvent) => Promise<boolean>) | undefined,
): AsyncGenerator<AgentEvent, DelegatedEnd> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done !== true) {
        await send?.(step.value)
        yield step.value
      } else if (step.value.type === 'interrupted') {
        // Also noted in the scope: the tool may swallow the signal.
        interrupts.add(step.value)
        throw new InterruptSignal(step.value)
      } else if (step.value.type === 'cancelled') {
        throw new StoppedSignal(
          'The run stops here. Do not catch this: the tool runs again when the run is resumed.',
        )
      } else return step.value
    }
  } finally {
    await source.return({ type: 'cancelled' })
  }
}

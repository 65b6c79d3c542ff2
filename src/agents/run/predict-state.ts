import {
  confirmChangesEvents,
  confirmChangesTool,
  predictStateEvent,
  type PredictStateMapping,
} from '../../bridge/predict-state.js'
import { isRecord } from '../../core/json.js'
import { isRejected, type AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { isBehindCall } from './address.js'

export interface PredictStateOptions {
  readonly predictState?: readonly PredictStateMapping[] | undefined
  /** The agent's own tools. Undefined if they are not known before it runs. */
  readonly tools?: readonly string[] | undefined
}

/** Saved while only the confirmation of the person is missing: the agent itself is done. */
interface ConfirmFrame {
  readonly millrace: 'confirm'
  readonly control: Control
}

/**
 * An agent's `run` with predicted state, whatever its runtime. Clients get CUSTOM `PredictState` before the first call of
 * a mapped tool; a run that ends asks them to confirm, with a call of `confirm_changes` for each tool.
 */
export function withPredictedState(
  run: Agent['run'],
  { predictState = [], tools }: PredictStateOptions,
): Agent['run'] {
  return predictState.length === 0 ? run : (ctx) => runPredicting(run, ctx, { predictState, tools })
}

async function* runPredicting(
  run: Agent['run'],
  ctx: RunContext,
  { predictState, tools }: PredictStateOptions & { readonly predictState: readonly PredictStateMapping[] },
): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame()
  if (isConfirmFrame(frame)) return frame.control
  reportUnknownTools(ctx, predictState, tools)
  const predicted = new PredictedTools(ctx)
  const source = run(withoutConfirmTool(ctx, frame))
  let isTold = false
  let isOver = false
  try {
    for (;;) {
      const step = await source.next()
      isOver = step.done === true
      if (step.done === true) return yield* confirm(step.value, ctx, { predictState, predicted })
      const event = step.value
      if (event.type === 'TOOL_CALL_START' && predictState.some(({ tool }) => tool === event.toolCallName)) {
        if (!isTold) yield predictStateEvent(predictState)
        isTold = true
        predicted.add(event.toolCallId, event.toolCallName)
      }
      // The call of an attempt that was taken back.
      if (event.type === 'TOOL_CALL_RESULT' && isRejected(event)) predicted.remove(event.toolCallId)
      yield event
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    if (!isOver) await source.return({ type: 'cancelled' })
  }
}

function isConfirmFrame(frame: unknown): frame is ConfirmFrame {
  return isRecord(frame) && frame.millrace === 'confirm'
}

/** The frame was taken to look at it. Models are not offered the tool: the server makes its calls. */
function withoutConfirmTool(ctx: RunContext, frame: unknown): RunContext {
  const tools = ctx.client.tools.filter(({ name }) => name !== confirmChangesTool)
  let left = frame
  const takeFrame = (): unknown => {
    const taken = left
    left = undefined
    return taken
  }
  // Inherited, not copied: members such as `state` are live.
  return Object.create(ctx, {
    client: { value: { ...ctx.client, tools }, enumerable: true },
    resume: { value: { ...ctx.resume, takeFrame }, enumerable: true },
  }) as RunContext
}

function reportUnknownTools(
  { client, services }: RunContext,
  predictState: readonly PredictStateMapping[],
  tools: readonly string[] | undefined,
): void {
  if (!tools) return
  const known = new Set([...tools, ...client.tools.map(({ name }) => name)])
  for (const { tool } of predictState)
    if (!known.has(tool))
      services.report(`\`predictState\` names the tool '${tool}', which neither the agent nor the client has`)
}

/** The called tools with predicted state. In the values of the run, so that an interrupt does not lose them. */
class PredictedTools {
  readonly #ctx: RunContext
  readonly #key: string

  constructor(ctx: RunContext) {
    this.#ctx = ctx
    this.#key = `predicted state ${ctx.span.address}`
  }

  get names(): readonly string[] {
    return [...new Set(Object.values(this.#calls))]
  }

  add(toolCallId: string, name: string): void {
    this.#ctx.values.set(this.#key, { ...this.#calls, [toolCallId]: name })
  }

  remove(toolCallId: string): void {
    const { [toolCallId]: _removed, ...others } = this.#calls
    this.#ctx.values.set(this.#key, others)
  }

  clear(): void {
    this.#ctx.values.delete(this.#key)
  }

  /** The names of the tools, by call. */
  get #calls(): Readonly<Record<string, string>> {
    return (this.#ctx.values.get(this.#key) ?? {}) as Readonly<Record<string, string>>
  }
}

interface Predicting {
  readonly predictState: readonly PredictStateMapping[]
  readonly predicted: PredictedTools
}

/** Ends a run that is done with the calls that ask for confirmation. */
function* confirm(
  control: Control,
  { services, resume, span }: RunContext,
  { predictState, predicted }: Predicting,
): Generator<AgentEvent, Control> {
  // An agent behind a tool call has to answer now.
  if (control.type !== 'done' || isBehindCall(span.address.split('/'))) return control
  const { names } = predicted
  predicted.clear()
  const isConfirmed = (name: string): boolean =>
    predictState.some(({ tool, confirm: asks = true }) => tool === name && asks)
  const ids = names.filter(isConfirmed).map(() => services.newId('call'))
  if (ids.length === 0) return control
  for (const id of ids) yield* confirmChangesEvents(id)
  const { pendingToolCallIds: pending = [] } = control
  const frame: ConfirmFrame = { millrace: 'confirm', control }
  if (pending.length === 0) resume.keepFrame(() => frame)
  return { ...control, pendingToolCallIds: [...pending, ...ids] }
}

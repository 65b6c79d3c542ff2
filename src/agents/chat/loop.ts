import type { Message } from '@ag-ui/core'
import { MillraceError, toWireError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Control, RunContext, InterruptScope } from '../contract.js'
import { controlOf, InterruptSignal, type WorkEnd } from '../interrupts/interrupt-scope.js'
import { askModel } from './model-call.js'
import type { ChatConfig } from './chat-agent.js'
import { createConversation, type Conversation } from './conversation.js'
import { cutOffIn, sendLost, type ChatFrame } from './frame.js'
import { createOutput, type Output } from './output.js'
import { clientCallsIn, createRequest, openToolbox, type Toolbox } from './setup.js'
import { runBatch, type Batch, type BatchOutcome } from './tool-batch.js'

interface Chat {
  readonly config: ChatConfig
  readonly ctx: RunContext
  readonly toolbox: Toolbox
  readonly conversation: Conversation
  readonly output: Output | undefined
  readonly added: Message[]
  iteration: number
  uncounted: number
  batch: Batch | undefined
  answer: string | undefined
  /** What was cut off before. */
  readonly cutOff: readonly string[]
}

type Ending = Extract<Control, { type: 'done' | 'exit' | 'break' | 'transfer' }>
/** A part of the loop. Ends with the end of the agent, or with nothing, and the next one follows. */
type Phase = AsyncGenerator<AgentEvent, Control | undefined>

/** Ask the model, run the tools it calls, ask again: until it answers without calling any. */
export async function* runChat(config: ChatConfig, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as ChatFrame | undefined
  if (frame) {
    // Kept while it is made ready to go on, should the run be stopped meanwhile.
    ctx.resume.keepFrame(() => frame)
    yield* sendLost(frame, ctx)
  }
  const chat = await openChat(config, ctx, frame)
  ctx.resume.keepFrame(() => frameOf(chat))
  for (;;) {
    const { batch, iteration } = chat
    // The loop goes on in its midst, so questions are told apart by the phase they are asked in.
    const phase = phaseOf(ctx, batch ? `tools:${iteration}` : `model:${iteration + 1}`)
    let end: WorkEnd<Control | undefined>
    try {
      end = { value: yield* batch ? runTools(chat, batch, phase.ctx) : hearModel(chat, phase.ctx) }
    } catch (error) {
      end = { error }
    }
    // What has failed is not tried again: the model is told what came of it, and goes on.
    if ('error' in end && !ctx.signal.aborted && !(end.error instanceof InterruptSignal))
      ctx.resume.keepFrame(undefined)
    const control = controlOf(phase.asker, end)
    if (control) return control
  }
}

function frameOf(chat: Chat): ChatFrame {
  const { config, ctx, conversation, iteration, uncounted, added, batch, answer } = chat
  const isAsking = !batch && answer === undefined
  const cutOff = isAsking ? cutOffIn(ctx.history(config.historyRewriter), conversation) : chat.cutOff
  return {
    iteration,
    uncounted,
    added,
    ...(batch ? { batch } : {}),
    ...(answer === undefined ? {} : { answer }),
    ...(cutOff.length > 0 ? { cutOff } : {}),
  }
}

async function openChat(config: ChatConfig, ctx: RunContext, frame: ChatFrame | undefined): Promise<Chat> {
  const { iteration = 0, uncounted = 0, batch, answer, cutOff = [] } = frame ?? {}
  const added = [...(frame?.added ?? [])]
  const openCalls = new Set(batch?.calls.map(({ id }) => id))
  const history = ctx.history(config.historyRewriter)
  const whole = cutOff.length > 0 ? history.filter(({ id }) => !cutOff.includes(id)) : history
  const conversation = createConversation(whole, frame && { added, openCalls })
  const toolbox = await openToolbox(config, ctx)
  const output = config.output === undefined ? undefined : createOutput(config.output)
  return { config, ctx, toolbox, conversation, output, added, iteration, uncounted, batch, answer, cutOff }
}

function phaseOf(
  ctx: RunContext,
  name: string,
): { readonly ctx: RunContext; readonly asker: InterruptScope } {
  const asker = ctx.resume.interruptScope(`${ctx.span.address}/${name}`, { reason: 'input_required' })
  const own = { interrupt: { value: asker.interrupt }, resumed: { value: asker.resumed } }
  // Inherited, not copied: members such as `state` are live.
  return { asker, ctx: Object.create(ctx, own) as RunContext }
}

async function* hearModel(chat: Chat, ctx: RunContext): Phase {
  if (chat.answer !== undefined) return await conclude(chat, chat.answer)
  const { config, output, iteration } = chat
  const isLast = iteration - chat.uncounted >= config.maxIterations
  if (isLast && config.onMaxIterations === 'error') throw tooManySteps(config)
  const answer = yield* askModel(createRequest(chat, isLast), {
    ctx,
    models: config.models,
    retry: output ? output.judging(config.retry) : config.retry,
    middlewares: config.middlewares,
  })
  const { calls } = answer
  // It was asked to call none.
  if (isLast && calls.length > 0) throw tooManySteps(config)
  add(chat, answer.messages)
  if (calls.length === 0) {
    chat.answer = answer.text
    return await conclude(chat, answer.text)
  }
  chat.iteration++
  chat.batch = { calls, clientCalls: clientCallsIn(calls, chat), results: {}, shown: [] }
  return ctx.services.shouldStop('model') ? { type: 'cancelled' } : undefined
}

async function* runTools(chat: Chat, batch: Batch, ctx: RunContext): Phase {
  const outcome = yield* workOff(chat, batch)
  if (outcome.type === 'interrupted' || outcome.type === 'cancelled') return outcome
  if (outcome.type === 'client') {
    chat.uncounted = chat.iteration
    return { type: 'done', pendingToolCallIds: outcome.pendingToolCallIds }
  }
  if (outcome.type === 'ended') return await endWith(chat, outcome.control)
  for (const middleware of chat.config.middlewares) await middleware.afterTools?.(ctx)
  chat.batch = undefined
  return ctx.services.shouldStop('tools') ? { type: 'cancelled' } : undefined
}

function add(chat: Chat, messages: readonly Message[]): void {
  chat.conversation.add(messages)
  chat.added.push(...messages)
}

function tooManySteps({ name, maxIterations }: ChatConfig): MillraceError {
  const message = `Agent '${name}' called tools in each of its ${maxIterations} steps and did not finish.`
  return new MillraceError('MAX_ITERATIONS', message)
}

async function* workOff(chat: Chat, batch: Batch): AsyncGenerator<AgentEvent, BatchOutcome> {
  const { config, ctx, toolbox, conversation } = chat
  takeKnownResults(batch, conversation)
  return yield* runBatch(batch, {
    ctx,
    tools: toolbox.tools,
    middlewares: config.middlewares,
    onToolError: config.onToolError,
    messages: conversation.view(),
    onResult: (message) => add(chat, [message]),
    onStrayError: (error) =>
      ctx.services.report(`a tool failed after its call was over: ${toWireError(error).code}`),
  })
}

/**
 * A client may have answered its calls while another call waited for a person. And a run that failed may have finished
 * calls before, which are not run again.
 */
function takeKnownResults(batch: Batch, conversation: Conversation): void {
  for (const { id } of batch.calls) {
    const result = conversation.resultOf(id)
    if (!result || batch.results[id]) continue
    batch.results[id] = { content: result.content }
    batch.shown.push(id)
  }
}

async function conclude(chat: Chat, text: string): Promise<Control> {
  if (!chat.output) return endWith(chat, { type: 'done' }, text)
  return endWith(chat, { type: 'done', result: await chat.output.parse(text) }, text)
}

async function endWith({ config, ctx }: Chat, control: Ending, text = ''): Promise<Control> {
  const result = 'result' in control ? control.result : undefined
  if (config.outputKey !== undefined && control.type !== 'transfer')
    ctx.values.set(config.outputKey, result ?? text)
  for (const middleware of config.middlewares) await middleware.onEnd?.({ text, result }, ctx)
  return control
}

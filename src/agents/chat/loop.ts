import type { Message, Tool as ToolInfo } from '@ag-ui/core'
import { MillraceError, toWireError } from '../../core/errors.js'
import type { ModelRequest } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Control, RunContext } from '../agent.js'
import { askModel } from './ask-model.js'
import type { ChatConfig } from './chat-agent.js'
import { createConversation, type Conversation } from './conversation.js'
import type { CallRequest, Draft } from './draft.js'
import { createOutput, type Output } from './output.js'
import { runBatch, type Batch, type BatchOutcome } from './tool-batch.js'
import { openToolbox, type Toolbox } from './toolbox.js'

/** What is saved when a tool asks: the answer whose calls are at work, and how far they are. */
interface ChatFrame {
  readonly iteration: number
  /** What this agent has added to its conversation. */
  readonly added: readonly Message[]
  readonly batch: Batch
}

interface Chat {
  readonly config: ChatConfig
  readonly ctx: RunContext
  readonly toolbox: Toolbox
  readonly conversation: Conversation
  readonly output: Output | undefined
  readonly added: Message[]
}

type Ending = Extract<Control, { type: 'done' | 'exit' }>

/** Ask the model, run the tools it calls, ask again: until it answers without calling any. */
export async function* runChat(config: ChatConfig, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.takeFrame() as ChatFrame | undefined
  const chat = await openChat(config, ctx, frame)
  let iteration = frame?.iteration ?? 0
  let batch = frame?.batch
  for (;;) {
    if (!batch) {
      iteration++
      const answer = yield* nextAnswer(chat, iteration)
      if (answer.calls.length === 0) return await conclude(chat, answer)
      if (ctx.shouldStop('model')) return { type: 'cancelled' }
      batch = { calls: answer.calls, clientCalls: clientCallsIn(answer.calls, chat), results: {}, shown: [] }
    }
    const outcome = yield* workOff(chat, batch)
    if (outcome.type === 'interrupted') {
      const saved: ChatFrame = { iteration, added: chat.added, batch }
      return { ...outcome, frames: { ...outcome.frames, [ctx.address]: saved } }
    }
    if (outcome.type === 'client') return { type: 'done', pendingToolCallIds: outcome.pendingToolCallIds }
    if (outcome.type === 'ended') return await endWith(chat, outcome.control)
    for (const middleware of config.middlewares) await middleware.afterTools?.(ctx)
    if (ctx.shouldStop('tools')) return { type: 'cancelled' }
    batch = undefined
  }
}

async function openChat(config: ChatConfig, ctx: RunContext, frame: ChatFrame | undefined): Promise<Chat> {
  const added = [...(frame?.added ?? [])]
  const openCalls = new Set(frame?.batch.calls.map(({ id }) => id))
  const conversation = createConversation(ctx.messages, frame && { added, openCalls })
  const toolbox = await openToolbox(config, ctx)
  const output = config.output === undefined ? undefined : createOutput(config.output)
  return { config, ctx, toolbox, conversation, output, added }
}

function add(chat: Chat, messages: readonly Message[]): void {
  chat.conversation.add(messages)
  chat.added.push(...messages)
}

async function* nextAnswer(chat: Chat, iteration: number): AsyncGenerator<AgentEvent, Draft> {
  const { config, ctx, output } = chat
  const isLast = iteration > config.maxIterations
  if (isLast && config.onMaxIterations === 'error') throw tooManySteps(config)
  const answer = yield* askModel(requestFor(chat, isLast), {
    ctx,
    models: config.models,
    retry: output ? output.judging(config.retry) : config.retry,
    middlewares: config.middlewares,
  })
  // It was asked to call none.
  if (isLast && answer.calls.length > 0) throw tooManySteps(config)
  add(chat, answer.messages)
  return answer
}

function tooManySteps({ name, maxIterations }: ChatConfig): MillraceError {
  const message = `Agent '${name}' called tools in each of its ${maxIterations} steps and did not finish.`
  return new MillraceError('MAX_ITERATIONS', message)
}

function requestFor({ config, ctx, toolbox, conversation, output }: Chat, isLast: boolean): ModelRequest {
  const { instructions } = toolbox
  const tools = toolInfos(toolbox, ctx.clientTools)
  const messages = conversation.view()
  const hurry = 'Answer now with what you know. Do not call any tools.'
  return {
    ...(instructions === '' && !isLast
      ? {}
      : { instructions: isLast ? [instructions, hurry].filter(Boolean).join('\n\n') : instructions }),
    get messages() {
      return messages()
    },
    ...(tools.length > 0 ? { tools } : {}),
    ...(isLast && tools.length > 0 ? { toolChoice: 'none' } : {}),
    ...(output ? { output: { schema: output.schema } } : {}),
    ...(config.settings ? { settings: config.settings } : {}),
    signal: ctx.signal,
  }
}

/** A client's tool with the name of one of the agent's is not offered: the agent's own is. */
function toolInfos({ tools }: Toolbox, clientTools: readonly ToolInfo[]): ToolInfo[] {
  const own = [...tools.values()].map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }))
  return [...own, ...clientTools.filter(({ name }) => !tools.has(name))]
}

/** Those to the client's tools, unless the agent has one of that name itself. */
function clientCallsIn(calls: readonly CallRequest[], { ctx, toolbox }: Chat): string[] {
  const names = new Set(ctx.clientTools.map(({ name }) => name))
  return calls.filter(({ name }) => names.has(name) && !toolbox.tools.has(name)).map(({ id }) => id)
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
    onStrayError: (error) => ctx.report(`a tool failed after its call was over: ${toWireError(error).code}`),
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

async function conclude(chat: Chat, answer: Draft): Promise<Control> {
  const { text } = answer
  if (!chat.output) return endWith(chat, { type: 'done' }, text)
  return endWith(chat, { type: 'done', result: await chat.output.parse(text) }, text)
}

async function endWith({ config, ctx }: Chat, control: Ending, text = ''): Promise<Control> {
  const { result } = control
  if (config.outputKey !== undefined) ctx.values.set(config.outputKey, result ?? text)
  for (const middleware of config.middlewares) await middleware.onEnd?.({ text, result }, ctx)
  return control
}

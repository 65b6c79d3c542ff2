import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Control, InterruptScope, RunContext } from '../contract.js'
import { controlOf, InterruptSignal, type WorkEnd } from '../interrupts/interrupt-scope.js'
import type { ModelAnswer } from './model-answer.js'
import type { ChatConfig } from './chat-agent.js'
import { createFrame, resendLostResults, restoreLoop, type ChatFrame, type LoopState } from './loop-state.js'
import { ModelCall } from './model-call.js'
import { clientCallsIn, createRequest } from './toolbox.js'
import { runBatch, type ToolBatch } from './tool-batch.js'

/** Calls the model and executes the tool calls it makes, until it answers without a tool call. */
export async function* runChat(config: ChatConfig, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as ChatFrame | undefined
  if (frame) {
    // Keep the frame during the restore: the run may be stopped meanwhile.
    ctx.resume.keepFrame(() => frame)
    yield* resendLostResults(frame, ctx)
  }
  const loop = await restoreLoop(config, ctx, frame)
  ctx.resume.keepFrame(() => createFrame(loop))
  for (;;) {
    const { batch, answer } = loop
    const phase = beginPhase(loop)
    let end: WorkEnd<Control | undefined>
    try {
      if (batch) end = { value: yield* executeToolCalls(loop, batch, phase.ctx) }
      else if (answer !== undefined) end = { value: await finishWithAnswer(loop, answer) }
      else {
        const call = startModelCall(loop, phase.ctx)
        let isAccepted = false
        while (!isAccepted) {
          let failure: { readonly error: unknown } | undefined
          try {
            for await (const part of call.stream()) {
              if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
                const event = call.answer.addDelta(part)
                if (event) yield event
              } else yield* call.answer.add(part)
            }
          } catch (error) {
            failure = { error }
          }
          isAccepted = yield* call.endAttempt(failure)
        }
        end = { value: await takeAnswer(loop, call.answer) }
      }
    } catch (error) {
      end = { error }
      // A failed phase is not resumed: the model learns of the failure and continues.
      if (!ctx.signal.aborted && !(error instanceof InterruptSignal)) ctx.resume.keepFrame(undefined)
    }
    const control = controlOf(phase.interrupts, end)
    if (control) return control
  }
}

interface Phase {
  readonly ctx: RunContext
  readonly interrupts: InterruptScope
}

/** Numbers interrupts within the phase that raises them, since the loop resumes in the middle. */
function beginPhase({ ctx, batch, iteration }: LoopState): Phase {
  const name = batch ? `tools:${iteration}` : `model:${iteration + 1}`
  const interrupts = ctx.resume.interruptScope(`${ctx.span.address}/${name}`, { reason: 'input_required' })
  const own = { interrupt: { value: interrupts.interrupt }, resumed: { value: interrupts.resumed } }
  // Inherited, not copied: members such as `state` are live.
  return { interrupts, ctx: Object.create(ctx, own) as RunContext }
}

function startModelCall(loop: LoopState, ctx: RunContext): ModelCall {
  const { config, toolbox } = loop
  const { middlewares, output } = config
  const { models } = toolbox
  if (isLastCall(loop) && config.onMaxIterations === 'error') throw tooManyIterations(config)
  const retry = output ? output.checkedBy(config.retry) : config.retry
  return new ModelCall({ ctx, request: createRequest(loop, isLastCall(loop)), models, retry, middlewares })
}

function isLastCall({ config, iteration, uncounted }: LoopState): boolean {
  return iteration - uncounted >= config.maxIterations
}

/** Adds the answer to the conversation. An answer without tool calls ends the agent. */
async function takeAnswer(loop: LoopState, answer: ModelAnswer): Promise<Control | undefined> {
  const { calls } = answer
  // The last request offers no tools.
  if (isLastCall(loop) && calls.length > 0) throw tooManyIterations(loop.config)
  addMessages(loop, answer.messages)
  if (calls.length === 0) {
    loop.answer = answer.text
    return finishWithAnswer(loop, answer.text)
  }
  loop.iteration++
  loop.batch = { calls, clientCalls: clientCallsIn(calls, loop), results: {}, shown: [] }
  return loop.ctx.services.shouldStop('model') ? { type: 'cancelled' } : undefined
}

async function* executeToolCalls(
  loop: LoopState,
  batch: ToolBatch,
  ctx: RunContext,
): AsyncGenerator<AgentEvent, Control | undefined> {
  const { config, toolbox, conversation } = loop
  takeKnownResults(batch, loop)
  const outcome = yield* runBatch(batch, {
    ctx: loop.ctx,
    tools: toolbox.tools,
    middlewares: config.middlewares,
    onToolError: config.onToolError,
    messages: conversation.view(),
    onResult: (message) => addMessages(loop, [message]),
    onStrayError: (error) => ctx.services.report('a tool failed after its call was over', error),
  })
  switch (outcome.type) {
    case 'interrupted':
    case 'cancelled':
      return outcome
    case 'client':
      loop.uncounted = loop.iteration
      return { type: 'done', pendingToolCallIds: outcome.pendingToolCallIds }
    case 'ended':
      return finishWith(loop, outcome.control)
    case 'answered':
      for (const middleware of config.middlewares.toReversed()) await middleware.afterTools?.(ctx)
      loop.batch = undefined
      return ctx.services.shouldStop('tools') ? { type: 'cancelled' } : undefined
  }
}

/**
 * Takes results that are in the conversation already: of the client, while another call was interrupted, or of a run that
 * failed after some calls had finished. These calls do not run again.
 */
function takeKnownResults(batch: ToolBatch, { conversation }: LoopState): void {
  for (const { id } of batch.calls) {
    const result = conversation.resultOf(id)
    if (!result || batch.results[id]) continue
    batch.results[id] = { content: result.content }
    batch.shown.push(id)
  }
}

function addMessages({ conversation, added }: LoopState, messages: readonly Message[]): void {
  conversation.add(messages)
  added.push(...messages)
}

async function finishWithAnswer(loop: LoopState, text: string): Promise<Control> {
  const { output } = loop.config
  if (!output) return finishWith(loop, { type: 'done' }, text)
  return finishWith(loop, { type: 'done', result: await output.parse(text) }, text)
}

type FinalControl = Extract<Control, { type: 'done' | 'exit' | 'break' | 'transfer' }>

async function finishWith({ config, ctx }: LoopState, control: FinalControl, text = ''): Promise<Control> {
  const result = 'result' in control ? control.result : undefined
  if (config.outputKey !== undefined && control.type !== 'transfer')
    ctx.values.set(config.outputKey, result ?? text)
  for (const middleware of config.middlewares.toReversed()) await middleware.onEnd?.({ text, result }, ctx)
  return control
}

function tooManyIterations({ name, maxIterations }: ChatConfig): MillraceError {
  const message = `Agent '${name}' called tools in each of its ${maxIterations} steps and did not finish.`
  return new MillraceError('MAX_ITERATIONS', message)
}

import { interruptedBy, isAnswered, withAnswers, type Control, type RunContext } from '../agents/index.js'
import type { AgentEvent, EventOf } from '../protocol/index.js'
import { toQuestion, type RemoteFrame } from './ask.js'
import { openRemote, type OpenRemote, type RemoteSetup } from './open-remote.js'
import type { AgUiAgent } from './options.js'
import { failedRun } from './remote-error.js'
import { remoteEvents } from './source/remote-events.js'
import type { RemoteEnd } from './translate/translator.js'

/** One run of the agent. */
export async function* runRemote<A extends AgUiAgent>(
  setup: RemoteSetup<A>,
  ctx: RunContext,
): AsyncGenerator<AgentEvent, Control> {
  const saved = ctx.resume.takeFrame() as RemoteFrame | undefined
  const frame = saved && withAnswers(saved, ctx.resume.answers)
  // The protocol wants all answers at once.
  if (frame && !isAnswered(frame)) return interruptedBy(ctx.span.address, frame)
  const { name, options } = setup
  const open = await openRemote(setup, ctx, frame)
  const { agent, input, translator } = open
  const { threadId, runId } = input
  const { clock, graceMs, report } = ctx.services
  const { signal } = ctx
  const hasEnded = (): boolean => translator.end !== undefined
  const cancel = options.cancel && (() => options.cancel?.({ agent, threadId, runId }))
  const events = remoteEvents(agent, { name, input, signal, clock, graceMs, hasEnded, report, cancel })
  for await (const event of events) {
    for (const shown of translator.translate(event)) yield shown
    if (translator.isOver) break
  }
  return conclude(name, ctx, open)
}

function conclude(name: string, ctx: RunContext, { input, translator, ids }: OpenRemote<AgUiAgent>): Control {
  const { end } = translator
  for (const usage of end?.usage ?? []) ctx.services.addUsage(usage)
  // A stream without an end has thrown before.
  if (!end || isCancelled(end)) return { type: 'cancelled' }
  if (end.type === 'RUN_ERROR') throw failedRun(name, end)
  if (end.outcome?.type !== 'interrupt') return done(end, translator.openCalls().map(ids.callId), ids.callId)
  const questions = end.outcome.interrupts.map((interrupt) => toQuestion(interrupt, ids))
  const frame: RemoteFrame = { interrupts: questions, answers: {}, threadId: input.threadId }
  return interruptedBy(ctx.span.address, frame)
}

/** Cancelled over there. Servers tell older clients so by an error. */
function isCancelled(end: RemoteEnd): boolean {
  return end.type === 'RUN_ERROR' ? end.code === 'abort' : end.outcome?.type === 'cancelled'
}

/** Servers before 1.0 do not say which calls they leave to the client: then it is those that have no result. */
function done(
  { result, outcome }: EventOf<'RUN_FINISHED'>,
  unanswered: readonly string[],
  callId: (remoteId: string) => string,
): Control {
  const named = outcome?.type === 'success' ? outcome.pendingToolCallIds : undefined
  const pendingToolCallIds = named?.map(callId) ?? unanswered
  return {
    type: 'done',
    ...(result === undefined ? {} : { result: result as unknown }),
    ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }),
  }
}

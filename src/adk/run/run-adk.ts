import { createEvent, StreamingMode, type Event } from '@google/adk'
import { interruptedBy, isAnswered, withAnswers, type Control, type RunContext } from '../../agents/index.js'
import { applyNativeHooks, type NativeHooks } from '../../bridge/native-hooks.js'
import { isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Part } from '../adk-types.js'
import { toAdkInterrupts, type AdkFrame } from '../interrupts/to-interrupts.js'
import { resolveOption } from '../contract.js'
import { adkError } from '../retry/failures.js'
import { withCallOrigin, withEventMark } from '../session/marks.js'
import { eventParts } from '../session/session-events.js'
import { sharedSessionState, toSessionDelta } from '../session/session-state.js'
import { prepareAdkRun, type AdkRun } from './prepare-run.js'
import type { AdkSetup } from './prepare-run.js'

/** One run of an ADK agent. */
export async function* runAdk(setup: AdkSetup, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const saved = ctx.resume.takeFrame() as AdkFrame | undefined
  const frame = saved && withAnswers(saved, ctx.resume.answers)
  if (frame && !isAnswered(frame)) return interruptedBy(ctx.span.address, frame)
  const run = await prepareAdkRun(setup, ctx, frame)
  const { translator, tree } = run
  const { native } = ctx.services
  try {
    const adopted = adoptState(run)
    if (adopted) yield adopted
    yield* cancelledResults(run)
    let waitingAuthor: string | undefined
    // Not in a stage of its own: every delta would pay for it.
    for await (const event of (await startRunner(run)) ?? []) {
      // A tree that does not stop by itself has continued with another agent.
      if (waitingAuthor !== undefined && event.author !== waitingAuthor) break
      const events = native ? await withNativeHooks(native, event, run) : translator.translate(event)
      for (const translated of events)
        yield translated.type === 'TOOL_CALL_START'
          ? withCallOrigin(translated, callOriginOf(event, run))
          : translated
      if (waitsForClient(event) && !tree.stopsItself(event.author ?? '')) waitingAuthor = event.author
    }
    ctx.signal.throwIfAborted()
    return yield* finishAdkRun(run)
  } finally {
    // Also after a failure, to count its usage.
    translator.finish()
    await tree.close()
  }
}

/** Copies into the thread state that only the session has, because it was made elsewhere. */
function adoptState({ ctx, session, changeState }: AdkRun): AgentEvent | undefined {
  if (!session.isNew) return undefined
  const known = new Set(isRecord(ctx.state) ? Object.keys(ctx.state) : [])
  const own = Object.entries(sharedSessionState(session.session)).filter(([key]) => !known.has(key))
  return changeState(Object.fromEntries(own))
}

/** Shows the errors of tools whose credentials nobody gave. For ADK they are messages of the user. */
function cancelledResults({ ctx, frame, session, translator }: AdkRun): readonly AgentEvent[] {
  const { recent, add, news } = session.plan
  return (frame?.interrupts ?? []).flatMap(({ interrupt: { toolCallId } }) => {
    const parts = news.content?.parts?.filter(({ functionResponse }) => functionResponse?.id === toolCallId)
    if (toolCallId === undefined || !parts?.length) return []
    const isCaller = (event: Event): boolean =>
      eventParts(event).some(({ functionCall }) => functionCall?.id === toolCallId)
    const caller = [...recent, ...add].findLast(isCaller)
    // An attempt that failed has shown it.
    const isShown = ctx.messages.some(
      (message) => message.role === 'tool' && message.toolCallId === toolCallId,
    )
    return caller && !isShown ? translator.translate(resultEvent(caller, parts)) : []
  })
}

/** An event with results of calls in another. */
function resultEvent({ author = '', invocationId, branch }: Event, parts: Part[]): Event {
  const fields = { author, invocationId, ...(branch === undefined ? {} : { branch }) }
  return createEvent({ ...fields, content: { role: 'user', parts } })
}

/** The events of the Runner. Undefined when there is nothing for the agent to do. */
async function startRunner(run: AdkRun): Promise<AsyncGenerator<Event, void> | undefined> {
  const { setup, ctx, runner, session } = run
  const { userId, id: sessionId } = session.session
  const { content, isDelivered, mark } = session.plan.news
  const stateDelta = toSessionDelta(ctx.state, session.session.state, session)
  if (content === undefined || isDelivered) await storeState(run, stateDelta)
  if (content === undefined) return undefined
  const runConfig = await resolveOption(setup.options.runConfig, ctx)
  return runner.runAsync({
    ...{ userId, sessionId, newMessage: content, stateDelta, abortSignal: ctx.signal },
    runConfig: { streamingMode: StreamingMode.SSE, ...runConfig },
    customMetadata: withEventMark({ runId: ctx.runId, ...mark }),
  })
}

/** Stores the client's state when no message carries it. */
async function storeState({ ctx, session }: AdkRun, stateDelta: Record<string, unknown>): Promise<void> {
  if (Object.keys(stateDelta).length === 0) return
  const invocationId = ctx.services.newId('state')
  const event = createEvent({ author: 'user', invocationId, actions: { stateDelta } })
  await session.service.appendEvent({ session: session.session, event })
}

/** Applies the application's hooks. An event that they drop keeps its state change: the session has it. */
async function withNativeHooks(
  hooks: NativeHooks,
  event: Event,
  { translator, changeState }: AdkRun,
): Promise<readonly AgentEvent[]> {
  const { change, ...rest } = hooks
  const changed = change ? await change(event) : [event]
  const translate = (one: Event): readonly AgentEvent[] => translator.translate(one)
  const events: AgentEvent[] = []
  // A hook replaces native events by events of the same runtime.
  for (const one of changed) events.push(...(await applyNativeHooks(rest, one as Event, translate)))
  const state = changed.length === 0 ? changeState(event.actions.stateDelta) : undefined
  return state ? [state] : events
}

function callOriginOf({ author = '' }: Event, { ctx, tree }: AdkRun) {
  return { runId: ctx.runId, author, iterations: tree.iterations() }
}

function waitsForClient({ longRunningToolIds }: Event): boolean {
  return longRunningToolIds !== undefined && longRunningToolIds.length > 0
}

async function* finishAdkRun(run: AdkRun): AsyncGenerator<AgentEvent, Control> {
  const { ctx, frame, session, tree, plugin, translator, openCallIds } = run
  yield* await restoreDroppedResults(run)
  yield* translator.finish()
  const interrupts = toAdkInterrupts(translator.requests, ctx.runId)
  const pendingCallIds = [...openCallIds, ...translator.pendingCallIds]
  // With the events before an earlier interrupt: a workflow knows by them which of its nodes are done.
  const createFrame = (): AdkFrame => ({
    interrupts,
    pendingCallIds,
    answers: {},
    events: toPlainEvents([...(frame?.events ?? []), ...session.events]),
    iterations: tree.iterations(),
  })
  if (interrupts.length > 0) return interruptedBy(ctx.span.address, createFrame())
  const { error } = translator
  if (error) throw adkError({ ...error, cause: plugin.thrownError(error.message) })
  const { output } = translator
  if (pendingCallIds.length > 0) ctx.resume.keepFrame(createFrame)
  return {
    type: 'done',
    ...(output === undefined ? {} : { result: output }),
    ...(pendingCallIds.length === 0 ? {} : { pendingToolCallIds: pendingCallIds }),
  }
}

/** ADK puts class instances into events. */
function toPlainEvents(events: readonly Event[]): readonly Event[] {
  return toJson(events, 'The events of the run') as Event[]
}

/** Shows and stores the results that ADK drops because a call beside them asks for confirmation. */
async function restoreDroppedResults({
  session,
  plugin,
  translator,
}: AdkRun): Promise<readonly AgentEvent[]> {
  const shown: AgentEvent[] = []
  const events = [...session.events]
  const stored = new Set(
    events.flatMap(eventParts).flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  )
  for (const event of events) {
    const callIds = eventParts(event).flatMap(({ functionCall }) => functionCall?.id ?? [])
    const dropped = plugin.takeDroppedResults(callIds.filter((id) => !stored.has(id)))
    if (dropped.length === 0) continue
    const restored = resultEvent(
      event,
      dropped.map((functionResponse) => ({ functionResponse })),
    )
    await session.service.appendEvent({ session: session.session, event: restored })
    shown.push(...translator.translate(restored))
  }
  return shown
}

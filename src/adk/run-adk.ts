import { createEvent, StreamingMode, type Event } from '@google/adk'
import {
  interruptedBy,
  isAnswered,
  withAnswers,
  type Control,
  type NativeHooks,
  type RunContext,
} from '../agents/index.js'
import { isRecord } from '../core/is-record.js'
import type { AgentEvent } from '../protocol/index.js'
import { adkError } from './retry/failures.js'
import { toInterrupts, type AdkFrame } from './interrupts/to-interrupts.js'
import { withPlace, type CallPlace } from './call-place.js'
import { markedMetadata } from './mark.js'
import { openRun, stateEvent, type Work } from './open-run.js'
import { partsOf } from './session/event-facts.js'
import { stateOf } from './session/history.js'
import { applyDelta, deltaToSession } from './session/state-sync.js'
import { valueFor, type AdkSetup } from './setup.js'

/** One run of an ADK agent. */
export async function* runAdk(setup: AdkSetup, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const saved = ctx.resume.takeFrame() as AdkFrame | undefined
  const frame = saved && withAnswers(saved, ctx.resume.answers)
  if (frame && !isAnswered(frame)) return interruptedBy(ctx.span.address, frame)
  const work = await openRun(setup, ctx, frame)
  const { translator, tree } = work
  try {
    yield* adoptedState(work)
    let pausedBy: string | undefined
    // Not in a stream of its own: every piece of every text would pay for it.
    for await (const event of (await startRunner(work)) ?? []) {
      // A tree that does not stop by itself has gone on with another agent.
      if (pausedBy !== undefined && event.author !== pausedBy) break
      for (const shown of ctx.services.native
        ? await seen(ctx.services.native, event, work)
        : translator.translate(event))
        yield shown.type === 'TOOL_CALL_START' ? withPlace(shown, placeOf(event, work)) : shown
      if (isPause(event) && !tree.stopsItself(event.author ?? '')) pausedBy = event.author
    }
    ctx.signal.throwIfAborted()
    return yield* end(work)
  } finally {
    // Also of a run that broke off, so that what it has used is counted.
    translator.finish()
    await tree.close()
  }
}

/** What the session has and the thread has not: it was made elsewhere. */
function* adoptedState({ ctx, session }: Work): Generator<AgentEvent> {
  if (!session.isNew) return
  const known = new Set(isRecord(ctx.state) ? Object.keys(ctx.state) : [])
  const own = Object.entries(stateOf(session.session)).filter(([key]) => !known.has(key))
  const event = stateEvent(ctx, applyDelta(ctx.state, Object.fromEntries(own)))
  if (event) yield event
}

/** The events of the Runner. Undefined when there is nothing for the agent to do. */
async function startRunner(work: Work): Promise<AsyncGenerator<Event, void> | undefined> {
  const { setup, ctx, runner, session } = work
  const { userId, id: sessionId } = session.session
  const { content, isDelivered, mark } = session.plan.news
  const stateDelta = deltaToSession(ctx.state, session.session.state, session)
  if (content === undefined || isDelivered) await storeState(work, stateDelta)
  if (content === undefined) return undefined
  const runConfig = await valueFor(setup.options.runConfig, ctx)
  return runner.runAsync({
    ...{ userId, sessionId, newMessage: content, stateDelta, abortSignal: ctx.signal },
    runConfig: { streamingMode: StreamingMode.SSE, ...runConfig },
    customMetadata: markedMetadata({ runId: ctx.runId, ...mark }),
  })
}

function placeOf({ author = '' }: Event, { ctx, tree }: Work): CallPlace {
  return { runId: ctx.runId, author, iterations: tree.iterations() }
}

/** The state of the client, where no message takes it along. */
async function storeState({ ctx, session }: Work, stateDelta: Record<string, unknown>): Promise<void> {
  if (Object.keys(stateDelta).length === 0) return
  const event = createEvent({
    author: 'user',
    invocationId: ctx.services.newId('state'),
    actions: { stateDelta },
  })
  await session.service.appendEvent({ session: session.session, event })
}

function isPause({ longRunningToolIds }: Event): boolean {
  return longRunningToolIds !== undefined && longRunningToolIds.length > 0
}

/** What the owner of the run makes of an event. Its state is the session's by now, whatever is shown of the event. */
async function seen(native: NativeHooks, event: Event, { ctx, translator }: Work): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for (const changed of (await native.change?.(event)) ?? [event]) {
    const own = await native.translate?.(changed)
    // Whoever changes events of ADK gives events of ADK.
    events.push(...(own ?? translator.translate(changed as Event)))
  }
  const state = event.partial ? undefined : stateEvent(ctx, applyDelta(ctx.state, event.actions.stateDelta))
  return state ? [...events, state] : events
}

async function* end(work: Work): AsyncGenerator<AgentEvent, Control> {
  const { ctx, frame, session, tree, translator } = work
  yield* await lostResults(work)
  yield* translator.finish()
  const questions = toInterrupts(translator.requests, ctx.runId)
  // Also what led to an earlier question: a workflow knows by it which of its nodes are done.
  const leave = (): AdkFrame => ({
    interrupts: questions,
    answers: {},
    events: plain([...(frame?.events ?? []), ...session.events]),
    iterations: tree.iterations(),
  })
  if (questions.length > 0) return interruptedBy(ctx.span.address, leave())
  if (translator.error) throw adkError(translator.error)
  const { output, pendingCalls } = translator
  if (pendingCalls.length > 0) ctx.resume.keepFrame(leave)
  return {
    type: 'done',
    ...(output === undefined ? {} : { result: output }),
    ...(pendingCalls.length === 0 ? {} : { pendingToolCallIds: pendingCalls.map(({ id }) => id) }),
  }
}

/** ADK puts objects of its own into events. */
function plain(events: readonly Event[]): readonly Event[] {
  return JSON.parse(JSON.stringify(events)) as Event[]
}

/** Results that ADK drops because another call of the turn asks for confirmation: they are shown and stored here. */
async function lostResults({ session, plugin, translator }: Work): Promise<readonly AgentEvent[]> {
  const shown: AgentEvent[] = []
  const events = [...session.events]
  const stored = new Set(
    events.flatMap(partsOf).flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  )
  for (const event of events) {
    const callIds = partsOf(event).flatMap(({ functionCall }) => functionCall?.id ?? [])
    const lost = plugin.takeLostResults(callIds.filter((id) => !stored.has(id)))
    if (lost.length === 0) continue
    const { author = '', invocationId, branch } = event
    const parts = lost.map((functionResponse) => ({ functionResponse }))
    const place = { author, invocationId, ...(branch === undefined ? {} : { branch }) }
    const found = createEvent({ ...place, content: { role: 'user', parts } })
    await session.service.appendEvent({ session: session.session, event: found })
    shown.push(...translator.translate(found))
  }
  return shown
}

import {
  createEvent,
  getUserInputRequests,
  type BaseSessionService,
  type Event,
  type Runner,
  type Session,
} from '@google/adk'
import { interruptedBy, rootAddress, type AgentMemory, type ThreadOwner } from '../../agents/index.js'
import { isRequestCall, isWaitingForPerson } from '../interrupts/request-calls.js'
import { toAdkInterrupts, type AdkFrame, type AdkInterrupt } from '../interrupts/to-interrupts.js'
import type { AdkSetup } from '../run/prepare-run.js'
import { eventMark } from './marks.js'
import { sessionMessages } from './history.js'
import { raceFreeSessions } from './race-free-sessions.js'
import { conversationEvents, eventParts, isUserContent, nodeInputs } from './session-events.js'
import { sharedSessionState, toSessionDelta } from './session-state.js'

/** Reads and changes ADK's sessions without a run. */
export function createSessionMemory(setup: AdkSetup): AgentMemory {
  const { name, sessions } = setup
  const runnerFor = async (thread: ThreadOwner): Promise<Runner> => setup.runnerFor(thread, undefined)
  const load = async (thread: ThreadOwner): Promise<LoadedSession | undefined> => {
    const runner = await runnerFor(thread)
    const service = raceFreeSessions(runner.sessionService)
    const key = await sessions.existing(thread, runner)
    const session = key && (await service.getSession(key))
    return session && { runner, service, session }
  }
  return {
    async read(thread) {
      const loaded = await load(thread)
      if (!loaded) return undefined
      const { events } = loaded.session
      const { interrupts, callIds } = findUnanswered(events)
      const frame: AdkFrame = { interrupts, pendingCallIds: callIds, answers: {}, events: [], iterations: {} }
      return {
        messages: sessionMessages(events, { rootAuthor: loaded.runner.agent.name }),
        state: sharedSessionState(loaded.session),
        pendingToolCallIds: callIds,
        ...(interrupts.length > 0 && { suspension: interruptedBy(rootAddress({ name }), frame) }),
      }
    },
    list: (owner) => sessions.list(owner, runnerFor),
    async writeState(thread, state) {
      const loaded = await load(thread)
      if (!loaded) return
      const { service, session } = loaded
      const stateDelta = toSessionDelta(state, session.state, { isNew: false })
      if (Object.keys(stateDelta).length === 0) return
      // Databases insist on an invocation id.
      const event = createEvent({ author: 'user', invocationId: 'millrace-state', actions: { stateDelta } })
      await service.appendEvent({ session, event })
    },
    async forget(thread) {
      const loaded = await load(thread)
      if (!loaded) return
      const { runner, service, session } = loaded
      const { appName, userId, id: sessionId } = session
      // A deleted session cannot be added to long-term memory any more.
      await setup.longTermMemoryOf(runner)?.addSessionToMemory(session)
      await service.deleteSession({ appName, userId, sessionId })
      await sessions.forget(thread, runner)
    },
  }
}

interface LoadedSession {
  readonly runner: Runner
  readonly service: BaseSessionService
  readonly session: Session
}

/** Interrupts and client tool calls of a session that wait for an answer. */
export interface Unanswered {
  /** With the ids that clients know. */
  readonly interrupts: readonly AdkInterrupt[]
  readonly callIds: readonly string[]
}

/** Reads the events after the user's last message: earlier requests no longer take an answer. */
export function findUnanswered(events: readonly Event[]): Unanswered {
  const live = conversationEvents(events)
  const inputs = nodeInputs(live)
  const start = live.findLastIndex(
    (event) => event.author === 'user' && !inputs.has(event) && eventParts(event).some(isUserContent),
  )
  const latest = live.slice(start + 1)
  const answered = new Set(
    latest.flatMap((event) =>
      eventParts(event).flatMap(({ functionResponse }) => {
        const id = functionResponse?.id
        return id === undefined || isWaitingForPerson(id, event) ? [] : [id]
      }),
    ),
  )
  return {
    // Who cancels a request for credentials answers its call.
    interrupts: latest
      .flatMap(interruptsOf)
      .filter(
        ({ functionCallId: id, interrupt: { toolCallId = id } }) =>
          !answered.has(id) && !answered.has(toolCallId),
      ),
    callIds: latest.flatMap(clientCallIds).filter((id) => !answered.has(id)),
  }
}

function interruptsOf(event: Event): readonly AdkInterrupt[] {
  const runId = eventMark(event).runId ?? event.invocationId
  return toAdkInterrupts(
    getUserInputRequests(event).map((request) => ({ request, event, subagentRunId: undefined })),
    runId,
  )
}

function clientCallIds(event: Event): string[] {
  const { longRunningToolIds = [] } = event
  return eventParts(event).flatMap(({ functionCall }) => {
    const id = functionCall?.id
    return id !== undefined && !isRequestCall(functionCall) && longRunningToolIds.includes(id) ? [id] : []
  })
}

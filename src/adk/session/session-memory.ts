import { createEvent, getUserInputRequests, type Event, type Session } from '@google/adk'
import { interruptedBy, rootAddress, type AgentMemory, type ThreadOwner } from '../../agents/index.js'
import { isRequestCall } from '../interrupts/request-calls.js'
import { toAdkInterrupts, type AdkFrame, type AdkInterrupt } from '../interrupts/to-interrupts.js'
import type { AdkSetup } from '../run/prepare-run.js'
import { eventMark } from './marks.js'
import { sessionMessages } from './history.js'
import { raceFreeSessions } from './race-free-sessions.js'
import { conversationEvents, eventParts, isUserContent, nodeInputs } from './session-events.js'
import { sharedSessionState, toSessionDelta } from './session-state.js'

/** Reads and changes ADK's sessions without a run. Undefined when each run has a Runner of its own. */
export function createSessionMemory({ name, shared, sessions, options }: AdkSetup): AgentMemory | undefined {
  if (!shared) return undefined
  const service = raceFreeSessions(shared.sessionService)
  const load = async (thread: ThreadOwner): Promise<Session | undefined> => {
    const key = await sessions.existing(thread, shared)
    return key && (await service.getSession(key))
  }
  return {
    async read(thread) {
      const session = await load(thread)
      if (!session) return undefined
      const { events } = session
      const { interrupts, callIds } = findUnanswered(events)
      const frame: AdkFrame = { interrupts, answers: {}, events: [], iterations: {} }
      return {
        messages: sessionMessages(events, { rootAuthor: shared.agent.name }),
        state: sharedSessionState(session),
        pendingToolCallIds: callIds,
        ...(interrupts.length > 0 && { suspension: interruptedBy(rootAddress({ name }), frame) }),
      }
    },
    async writeState(thread, state) {
      const session = await load(thread)
      if (!session) return
      const stateDelta = toSessionDelta(state, session.state, { isNew: false })
      if (Object.keys(stateDelta).length === 0) return
      // Databases insist on an invocation id.
      const event = createEvent({ author: 'user', invocationId: 'millrace-state', actions: { stateDelta } })
      await service.appendEvent({ session, event })
    },
    async forget(thread) {
      const session = await load(thread)
      if (!session) return
      const { appName, userId, id: sessionId } = session
      // A deleted session cannot be added to long-term memory any more.
      await options.memoryService?.addSessionToMemory(session)
      await service.deleteSession({ appName, userId, sessionId })
      await sessions.forget(thread, shared)
    },
  }
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
    latest.flatMap(eventParts).flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  )
  return {
    interrupts: latest.flatMap((event) => unansweredInterrupts(event, answered)),
    callIds: latest.flatMap(clientCallIds).filter((id) => !answered.has(id)),
  }
}

function unansweredInterrupts(event: Event, answered: ReadonlySet<string>): readonly AdkInterrupt[] {
  const requests = getUserInputRequests(event).filter(({ interruptId }) => !answered.has(interruptId))
  const runId = eventMark(event).runId ?? event.invocationId
  return toAdkInterrupts(
    requests.map((request) => ({ request, event, subagentRunId: undefined })),
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

import { createEvent, type Session } from '@google/adk'
import { interruptedBy, rootAddress, type AgentMemory, type ThreadOwner } from '../agents/index.js'
import type { AdkFrame } from './interrupts/to-interrupts.js'
import { openEnds } from './open-questions.js'
import { messagesOf, stateOf } from './session/history.js'
import { safeSessions } from './session/safe-service.js'
import { deltaToSession } from './session/state-sync.js'
import type { AdkSetup } from './setup.js'

/** ADK's sessions, read and changed without a run. None when each run has a Runner of its own. */
export function createMemory({ name, shared, sessions, options }: AdkSetup): AgentMemory | undefined {
  if (!shared) return undefined
  const service = safeSessions(shared.sessionService)
  const history = { rootAuthor: shared.agent.name }
  const load = async (thread: ThreadOwner): Promise<Session | undefined> => {
    const key = await sessions.existing(thread, shared)
    return key && (await service.getSession(key))
  }
  return {
    async read(thread) {
      const session = await load(thread)
      if (!session) return undefined
      const { events } = session
      const { questions, callIds } = openEnds(events)
      const frame: AdkFrame = { interrupts: questions, answers: {}, events: [], iterations: {} }
      return {
        messages: messagesOf(events, history),
        state: stateOf(session),
        pendingToolCallIds: callIds,
        ...(questions.length > 0 && { suspension: interruptedBy(rootAddress({ name }), frame) }),
      }
    },
    async writeState(thread, state) {
      const session = await load(thread)
      if (!session) return
      const stateDelta = deltaToSession(state, session.state, { isNew: false })
      if (Object.keys(stateDelta).length === 0) return
      // Databases insist on an invocation.
      const event = createEvent({ author: 'user', invocationId: 'millrace-state', actions: { stateDelta } })
      await service.appendEvent({ session, event })
    },
    async forget(thread) {
      const session = await load(thread)
      if (!session) return
      const { appName, userId, id: sessionId } = session
      // Kept in long-term memory first: what is gone cannot be added to it.
      await options.memoryService?.addSessionToMemory(session)
      await service.deleteSession({ appName, userId, sessionId })
      await sessions.forget(thread, shared)
    },
  }
}

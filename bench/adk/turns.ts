import {
  BaseSessionService,
  LlmAgent,
  Runner,
  StreamingMode,
  type AppendEventRequest,
  type CreateSessionRequest,
  type Event,
  type Session,
} from '@google/adk'
import { fromAdk } from 'millrace/adk'
import { compareTurns } from '../turns/compare-turns.js'
import { wholeServer, type Handler } from '../turns/conversation.js'
import { leastServer } from '../turns/least-server.js'
import { model } from './contestants.js'

/** The growth of our share from turn 10 to turn 1,000. */
const maxGrowth = 1.2

/** One session, with events that are not copied. ADK's own service copies them all for each turn, and we do not. */
class LeastSessions extends BaseSessionService {
  #session: Session | undefined

  override createSession({ appName, userId, sessionId = 's' }: CreateSessionRequest): Promise<Session> {
    this.#session = { id: sessionId, appName, userId, state: {}, events: [], lastUpdateTime: 0 }
    return Promise.resolve(this.#session)
  }

  override getSession(): Promise<Session | undefined> {
    return Promise.resolve(this.#session)
  }

  override appendEvent({ event }: AppendEventRequest): Promise<Event> {
    if (event.partial !== true) this.#session?.events.push(event)
    return Promise.resolve(event)
  }

  override listSessions(): Promise<never> {
    return Promise.reject(new Error('not needed'))
  }

  override deleteSession(): Promise<void> {
    return Promise.resolve()
  }
}

const agent = new LlmAgent({ name: 'talker', model })
const key = { appName: 'bench', userId: 'local', sessionId: 's' }

function leastAdkServer(): Handler {
  const sessionService = new LeastSessions()
  const runner = new Runner({ appName: key.appName, agent, sessionService })
  return leastServer(async function* (messages) {
    if (!(await sessionService.getSession())) await sessionService.createSession(key)
    const text = String(messages.at(-1)?.content)
    const { signal: abortSignal } = new AbortController()
    const newMessage = { role: 'user', parts: [{ text }] }
    const runConfig = { streamingMode: StreamingMode.SSE }
    for await (const event of runner.runAsync({ ...key, newMessage, runConfig, abortSignal })) {
      const delta = event.content?.parts?.[0]?.text
      if (event.partial === true && delta !== undefined) yield delta
    }
  })
}

export function benchAdkTurns(): Promise<string[]> {
  model.words = 1
  return compareTurns({
    name: 'adk',
    maxGrowth,
    ours: () => wholeServer(fromAdk(agent)),
    floor: leastAdkServer,
  })
}

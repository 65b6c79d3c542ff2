import {
  BaseSessionService,
  LlmAgent,
  type AppendEventRequest,
  type CreateSessionRequest,
  type Event,
  type Session,
} from '@google/adk'
import { median } from '../http/stats.js'
import { model, throughMillrace } from './contestants.js'
import { ownTime } from './own-time.js'

const earlyTurn = 10
const lateTurn = 1_000
/** Conversations that are timed together, and turns of each. */
const conversations = 8
const turnsEach = 3
const warmUps = 10
const rounds = 15
/** The growth of our share from the early turn to the late one. */
const maxGrowth = 1.2

/**
 * One session that is handed out as it is. ADK copies and reads the whole history several times in each turn: that takes a
 * hundred times what we measure, and leaves the caches of the processor cold. So neither this nor the agent below does.
 */
class LeanSessions extends BaseSessionService {
  #session: Session | undefined

  override createSession({ appName, userId, sessionId = 's' }: CreateSessionRequest): Promise<Session> {
    this.#session = { id: sessionId, appName, userId, state: {}, events: [], lastUpdateTime: 0 }
    return Promise.resolve(this.#session)
  }

  override getSession(): Promise<Session | undefined> {
    return Promise.resolve(this.#session)
  }

  override appendEvent({ event }: AppendEventRequest): Promise<Event> {
    this.#session?.events.push(event)
    return Promise.resolve(event)
  }

  override listSessions(): Promise<never> {
    return Promise.reject(new Error('not needed'))
  }

  override deleteSession(): Promise<void> {
    return Promise.resolve()
  }
}

const agent = new LlmAgent({
  name: 'talker',
  model,
  requestProcessors: [],
})
const prepare = throughMillrace(() => () => undefined, { agent, sessions: () => new LeanSessions() })

/** Our share of a turn in microseconds, over some turns of these conversations. */
async function shareOf(conversations: readonly (() => Promise<number>)[], each: number): Promise<number> {
  const used = await ownTime('adk/', async () => {
    for (const once of conversations) for (let n = 0; n < each; n++) await once()
  })
  return used / (conversations.length * each)
}

/**
 * Compares our share of a late turn with that of an early one: the bridge to ADK. What every runtime has to do with a long
 * history is measured over HTTP.
 */
export async function benchAdkTurns(): Promise<string[]> {
  model.words = 1
  const late = await prepare(lateTurn * 2)
  const shares = { early: [] as number[], late: [] as number[] }
  for (let round = -warmUps; round < rounds; round++) {
    const early = await Promise.all(Array.from({ length: conversations }, () => prepare(earlyTurn * 2)))
    const found = {
      early: await shareOf(early, turnsEach),
      late: await shareOf([late], conversations * turnsEach),
    }
    if (round < 0) continue
    shares.early.push(found.early)
    shares.late.push(found.late)
  }
  const [early, later] = [median(shares.early), median(shares.late)]
  // Within a round the machine is the same for both.
  const growth = median(shares.late.map((share, round) => share / (shares.early[round] ?? NaN)))
  console.log('adk: CPU time of the bridge in a turn')
  const ratio = `${growth.toFixed(2)}x`
  console.log(
    `  turn ${earlyTurn} ${early.toFixed(0)} µs, turn ${lateTurn} ${later.toFixed(0)} µs (${ratio})`,
  )
  if (growth <= maxGrowth) return []
  return [`adk: our share of turn ${lateTurn} is ${ratio} that of turn ${earlyTurn}, not ${maxGrowth}x`]
}

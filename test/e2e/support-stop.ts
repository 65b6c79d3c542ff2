import { expect, vi } from 'vitest'
import { manualClock, systemClock, type ManualClock } from '../../src/core/clock.js'
import { defineAgent, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { textIn } from '../support/adk/serve-adk.js'
import { aborted, deferred } from '../support/run-agent.js'
import {
  serveAgents,
  type ClientClass,
  type ServeAgentsOptions,
  type ServedAgents,
  type Talk,
} from '../support/serve-agents.js'

/** An agent whose first answer never ends. Then it says `Fine.` to everything. */
export interface EndlessAgent {
  readonly agent: Agent
  /** Resolves when the first answer is at work. */
  readonly begun: Promise<void>
  /** Resolves when its model, or its tool, has been told to stop. */
  readonly stopped: Promise<void>
  /** Lets a tool that ignores its signal return. */
  readonly letGo: () => void
}

/** One of the kit: its model waits until it is told to stop. */
export function endlessAgent(): EndlessAgent {
  const [begun, stopped] = [deferred(), deferred()]
  const wait = async (signal: AbortSignal): Promise<void> => {
    begun.resolve()
    await aborted(signal)
    stopped.resolve()
  }
  const model = scriptedModel((_, index) => (index === 0 ? ['One ', { wait }] : 'Fine.'))
  const agent = defineAgent({ name: 'speaker', model })
  return { agent, begun: begun.promise, stopped: stopped.promise, letGo: () => undefined }
}

/**
 * A clock that stands still, except for what is due in a moment: so a server can be closed with runs that never end, and a
 * client that hangs up and writes again is understood.
 */
export function patientClock(): ManualClock {
  const clock = manualClock(1_700_000_000_000)
  return {
    ...clock,
    schedule: (ms, callback) => (ms > 10 ? clock.schedule(ms, callback) : systemClock.schedule(ms, callback)),
  }
}

/** A server whose run has lost its client, and that client. */
export interface Stopped {
  readonly served: ServedAgents
  readonly clock: ManualClock
  readonly talk: Talk
}

interface StartOptions extends Partial<ServeAgentsOptions> {
  readonly Client?: ClientClass
  readonly headers?: Readonly<Record<string, string>>
}

/** Says something, and waits until the agent is at work on its endless answer. */
export async function startEndless(one: EndlessAgent, { Client, headers, ...options }: StartOptions = {}) {
  const clock = patientClock()
  const served = await serveAgents({ agents: [one.agent], clock, ...options })
  const talk = served.talk({ ...(Client ? { Client } : {}), ...(headers ? { headers } : {}) })
  const running = talk.say('Count.')
  await one.begun
  await vi.waitFor(() => expect(textIn(talk.streams[0]?.events ?? [])).toContain('One'))
  return { served, clock, talk, running }
}

/** The same, and the client hangs up: its Stop. */
export async function stopByHangingUp(one: EndlessAgent, options: StartOptions = {}): Promise<Stopped> {
  const { served, clock, talk, running } = await startEndless(one, options)
  talk.client.abortRun()
  await running
  return { served, clock, talk }
}

/** The same, and the server has noticed. */
export async function abandon(one: EndlessAgent, options: StartOptions = {}): Promise<Stopped> {
  const stopped = await stopByHangingUp(one, options)
  await hasLeft(stopped.served)
  return stopped
}

export async function hasLeft({ ask }: ServedAgents, reason = 'client'): Promise<void> {
  await vi.waitFor(async () =>
    expect((await ask('GET /metrics')).text).toMatch(
      new RegExp(`streams_closed.*reason="${reason}".* 1$`, 'm'),
    ),
  )
}

/** Moves the time on until this is over: a stopped run gives its tools a second. */
export async function passTime<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const done = work.finally(() => over.abort())
  done.catch(() => undefined)
  while (!over.signal.aborted) await clock.advance(100)
  return done
}

export async function lastRunOf({ ask }: ServedAgents) {
  const { body } = await ask('GET /thread/list')
  return (body as { threads: { lastRun?: { status: string } }[] }).threads[0]?.lastRun?.status
}

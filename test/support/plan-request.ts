import type { Interrupt, Message, ResumeEntry } from '@ag-ui/core'
import type { RunInput } from '../../src/protocol/index.js'
import { createStateRules } from '../../src/server/state/state-rules.js'
import type { PlanRequest } from '../../src/server/plan/run-plan.js'
import type { RunStatus, Thread } from '../../src/threads/contract.js'
import { talk } from './talk.js'

export interface PlanFacts {
  /** What is stored, in short. Undefined: there is no thread. */
  readonly stored?: string | readonly Message[] | undefined
  readonly client: string | readonly Message[]
  /** Calls that wait for results. */
  readonly pending?: readonly string[]
  readonly interrupts?: readonly Interrupt[]
  /** Interrupts that are answered. */
  readonly resume?: readonly string[]
  readonly checkpoint?: unknown
  /** Names of the client's tools. */
  readonly clientTools?: readonly string[]
  readonly status?: RunStatus
  readonly state?: unknown
  readonly clientState?: unknown
  readonly history?: 'server' | 'client'
  /** What clients last saw of the state, when it was changed since. */
  readonly shown?: unknown
  readonly isLegacy?: boolean
  readonly messagesOnArrival?: number
  /** The latest run is `run-1`. Default: `run-2`. */
  readonly runId?: string
}

const key = { app: 'app', user: 'user', agent: 'agent', thread: 'thread' }

/** A request to plan, as far as a test has something to say about it. */
export function planRequest(facts: PlanFacts): PlanRequest {
  const { client, history = 'server', runId = 'run-2', clientState = facts.state ?? {} } = facts
  const input: RunInput = {
    threadId: 'thread',
    runId,
    messages: toList(client),
    state: clientState,
    tools: (facts.clientTools ?? []).map((name) => ({ name, description: '' })),
    context: [],
    resume: (facts.resume ?? []).map((interruptId): ResumeEntry => ({ interruptId, status: 'resolved' })),
  }
  const { isLegacy = false, messagesOnArrival } = facts
  const rules = createStateRules({ private: ['secret'] })
  return { thread: threadOf(facts), input, history, rules, isLegacy, messagesOnArrival }
}

function threadOf(facts: PlanFacts): Thread | undefined {
  const { stored, status = 'completed', state = {}, pending = [], interrupts = [], checkpoint } = facts
  if (stored === undefined) return undefined
  return {
    key,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    title: '',
    messages: toList(stored),
    state,
    interrupts,
    pendingToolCalls: pending.map((id) => ({ id, name: `tool_${id}` })),
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(facts.shown === undefined ? {} : { shown: facts.shown }),
    run: { runId: 'run-1', status, startedAt: 0, nextSeq: 0 },
  }
}

function toList(messages: string | readonly Message[]): Message[] {
  return typeof messages === 'string' ? talk(messages) : [...messages]
}

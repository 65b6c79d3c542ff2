import type { Message } from '@ag-ui/core'
import type { IdSource } from '../../core/ids.js'
import type { AgentEvent, AgUiEvent, EventOf } from '../../protocol/index.js'
import type { IdsHere } from '../ask.js'
import type { CallNames } from '../call-names.js'
import { checkEvent, toRawEvent, type RawEvent } from './check-event.js'
import { createRemoteState, type RemoteStateOptions } from './remote-state.js'
import { createSeen } from './seen.js'
import { unseenEvents } from './snapshot.js'
import { createThinkingReader } from './thinking.js'

export type RemoteEnd = EventOf<'RUN_FINISHED' | 'RUN_ERROR'>

export interface TranslatorOptions extends RemoteStateOptions {
  /** For error messages. */
  readonly name: string
  /** The id the agent was given for the run. */
  readonly runId: string
  /** What the agent was given to read. */
  readonly messages: readonly Message[]
  /** Whether the agent has a part in the shared state. */
  readonly sharesState: boolean
  readonly ids: IdsHere
  readonly calls: CallNames
  readonly newId: IdSource
}

/** An agent's events in, events of its place in the tree out. What is malformed throws INVALID_EVENT. */
export interface Translator {
  translate(event: unknown): readonly AgentEvent[]
  /** How the run has ended, if it has. */
  readonly end: RemoteEnd | undefined
  /** Whether the end is that of the run that was asked for. A stream may tell of earlier runs first. */
  readonly isOver: boolean
  /** The calls without a result, in order, as the agent knows them. */
  openCalls(): string[]
}

const nothing: readonly AgentEvent[] = Object.freeze([])

export function createTranslator(options: TranslatorOptions): Translator {
  const { name, runId, ids, report } = options
  const seen = createSeen(options.messages)
  const readThinking = createThinkingReader(options.newId)
  const state = createRemoteState(options)
  let end: RemoteEnd | undefined
  let isOwnRun = true

  function tagged<E extends AgentEvent>(event: E): E {
    const given = 'subagentRunId' in event ? event.subagentRunId : undefined
    const subagentRunId = given === undefined ? undefined : ids.spanId(given)
    return subagentRunId === given ? event : { ...event, subagentRunId }
  }

  function placed(event: AgentEvent): AgentEvent {
    return tagged(options.calls.placed(event))
  }

  function shown(event: AgentEvent): readonly AgentEvent[] {
    seen.note(event)
    return [placed(event)]
  }

  function started(event: EventOf<'SUBAGENT_STARTED'>): AgentEvent {
    const parent = ids.spanId(event.parentSubagentRunId)
    return placed({ ...event, ...(parent === undefined ? {} : { parentSubagentRunId: parent }) })
  }

  function finished(event: EventOf<'SUBAGENT_FINISHED'>): AgentEvent {
    if (event.outcome?.type !== 'suspended' || !event.outcome.interruptIds) return placed(event)
    const interruptIds = event.outcome.interruptIds.map(ids.questionId)
    return placed({ ...event, outcome: { type: 'suspended', interruptIds } })
  }

  function route(event: AgUiEvent, raw: RawEvent): readonly AgentEvent[] {
    switch (event.type) {
      case 'RUN_STARTED':
        isOwnRun = event.runId === runId
        end = undefined
        return nothing
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        end = event
        return nothing
      case 'STATE_SNAPSHOT':
      case 'STATE_DELTA':
        return options.sharesState ? state.change(tagged(event)) : nothing
      case 'MESSAGES_SNAPSHOT':
        return unseenEvents(raw, seen, name).flatMap(shown)
      case 'SUBAGENT_STARTED':
        return [started(event)]
      case 'SUBAGENT_FINISHED':
        return [finished(event)]
      default:
        return shown(event)
    }
  }

  return {
    translate(value) {
      const raw = readThinking(toRawEvent(value, name)) as RawEvent
      const event = checkEvent(raw, name)
      if (event) return route(event, raw)
      report(`agent '${name}': '${raw.type}' is not an AG-UI 1.0 event; it was left out`)
      return nothing
    },
    get end() {
      return end
    },
    get isOver() {
      return end !== undefined && isOwnRun
    },
    openCalls: () => seen.openCalls(),
  }
}

/* eslint-disable no-console -- the client reports what it repairs through console.warn only */
import {
  AbstractAgent,
  CompatibilityBoundary,
  enforceEvents,
  transformChunks,
  verifyEvents,
} from '@ag-ui/client'
import { EventType, type BaseEvent } from '@ag-ui/core'
import { Subject, tap, type Observable } from 'rxjs'
import type { AgUiEvent } from '../protocol/index.js'
import { describeError } from './describe.js'
import type { Finding } from './rules/rule.js'

interface ClientVerdict {
  readonly findings: readonly Finding[]
  /** Whether a client would have failed the run here. */
  readonly isRejected: boolean
  /** The events that pass the client's checks. */
  readonly events: readonly AgUiEvent[]
}

/**
 * Runs the events of one stream, in order, through the checks of `@ag-ui/client`. Reports each complaint once: the same
 * sentence about more events would bury the rest.
 */
export function createClientCheck(): (event: BaseEvent) => ClientVerdict {
  const client = createRecoveringClient()
  const complaints = new Set<string>()

  const isNew = ({ rule, message }: Finding): boolean => {
    const before = complaints.size
    return complaints.add(`${rule} ${message}`).size > before
  }
  return (event) => {
    const { events, failure, warnings } = client.send(event)
    const findings: Finding[] = warnings.map((message) => ({ rule: 'client-warning', message }))
    if (failure) {
      const reason = describeError(failure.error)
      const message = failure.rule === 'client-schema' ? `${event.type} is malformed: ${reason}` : reason
      findings.push({ rule: failure.rule, message })
    }
    return { findings: findings.filter(isNew), isRejected: failure !== undefined, events }
  }
}

/** A client that continues after a rejected event as if it had got a valid one in its place. */
interface RecoveringClient {
  /** `warnings` is what the client wrote to the console meanwhile. */
  send(event: BaseEvent): ClientResult & { readonly warnings: readonly string[] }
}

function createRecoveringClient(): RecoveringClient {
  const accepted: BaseEvent[] = []
  let phase: StreamPhase = 'before'
  let client = createClientPipeline()

  const accept = (event: BaseEvent): void => {
    if (!isRepeatedContinuation(event, accepted.at(-1))) accepted.push(event)
    phase = streamPhaseAfter(phase, event)
  }
  // A failed pipeline is dead: replay the stream into a new one.
  const restart = (): void => {
    client = createClientPipeline()
    for (const event of accepted) client.send(event)
  }
  /** Returns false when there are no substitutes, or when the client rejects even those. */
  const recover = (substitutes: readonly BaseEvent[]): boolean => {
    restart()
    for (const event of substitutes) {
      if (client.send(event).failure) {
        restart()
        return false
      }
      accept(event)
    }
    return substitutes.length > 0
  }

  return {
    send(event) {
      // A late start is already reported as missing; the open run is not the fault of this event.
      const isLateStart = phase === 'assumed' && event.type === EventType.RUN_STARTED
      if (isLateStart) captureWarnings(() => recover([runError]))
      const { result, warnings } = captureWarnings(() => client.send(event))
      const { failure } = result
      if (!failure) {
        accept(event)
        return { ...result, warnings }
      }
      const isValid = failure.rule === 'client-verify'
      const substitutes = substitutesFor(event, { phase, isValid })
      const { result: isReplaced } = captureWarnings(() => recover(substitutes))
      return { failure, warnings, events: isValid && isReplaced ? result.events : [] }
    },
  }
}

/** The phase of a stream. An `assumed` run is one whose start is missing. */
type StreamPhase = 'before' | 'assumed' | 'open' | 'ended'

/** Starts a run. */
const runStarted: BaseEvent = { type: EventType.RUN_STARTED, threadId: '', runId: '' }
/** Ends a run, whatever is open in it. */
const runError: BaseEvent = { type: EventType.RUN_ERROR, message: '' }

/** The phase of the stream after an event the client accepted. */
function streamPhaseAfter(phase: StreamPhase, event: BaseEvent): StreamPhase {
  if (event === runStarted) return 'assumed'
  if (event.type === EventType.RUN_STARTED) return 'open'
  return isTerminalEvent(event) ? 'ended' : phase
}

/**
 * The events that replace one the client rejects, so that the rest of the stream is judged on its own: without
 * them, a stream with one bad run event would be nothing but follow-up errors. A valid event was rejected for its
 * position only, and may follow its substitute.
 */
function substitutesFor(
  event: BaseEvent,
  { phase, isValid }: { phase: StreamPhase; isValid: boolean },
): readonly BaseEvent[] {
  if (event.type === EventType.RUN_STARTED) {
    return [...(phase === 'open' ? [runError] : []), isValid ? event : runStarted]
  }
  const start = phase === 'before' ? [runStarted] : []
  if (isTerminalEvent(event)) return phase === 'ended' ? [] : [...start, runError]
  return phase === 'before' && isValid ? [runStarted, event] : start
}

const continuations: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_CONTENT,
  EventType.TEXT_MESSAGE_CHUNK,
  EventType.TOOL_CALL_ARGS,
  EventType.TOOL_CALL_CHUNK,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_CHUNK,
])

/**
 * Whether an event is one more delta of the same item as the last event. A client is in the same state with and without
 * it, so long texts need not be replayed after every mistake.
 */
function isRepeatedContinuation(event: BaseEvent, last: BaseEvent | undefined): boolean {
  if (!last || !continuations.has(event.type) || event.type !== last.type) return false
  return ['messageId', 'toolCallId', 'subagentRunId'].every((id) => event[id] === last[id])
}

function isTerminalEvent({ type }: BaseEvent): boolean {
  return type === EventType.RUN_FINISHED || type === EventType.RUN_ERROR
}

/** The variable that silences the client. */
const silencer = 'SUPPRESS_TRANSFORMATION_WARNINGS'

/** The end of each of the client's warnings; it does not help to find the fault. */
const advice = / Set SUPPRESS_TRANSFORMATION_WARNINGS=true to silence\.$/

/**
 * Runs synchronous work and returns what it wrote to `console.warn`, which stays off the console. The environment
 * cannot silence it. Both are as before when this returns or throws.
 */
function captureWarnings<T>(work: () => T): { result: T; warnings: string[] } {
  const warnings: string[] = []
  const warn = console.warn
  const environment = environmentVariables()
  const silenced = environment[silencer]
  Reflect.deleteProperty(environment, silencer)
  console.warn = (...parts: unknown[]) => {
    warnings.push(parts.map(String).join(' ').replace(advice, ''))
  }
  try {
    return { result: work(), warnings }
  } finally {
    console.warn = warn
    if (silenced !== undefined) environment[silencer] = silenced
  }
}

/** Browsers have none. */
function environmentVariables(): Record<string, string | undefined> {
  const { process: host } = globalThis as { readonly process?: Pick<NodeJS.Process, 'env'> }
  return host?.env ?? {}
}

/** The result of one event in the client. */
interface ClientResult {
  /** The event as the schema parsed it, chunks expanded into starts, contents and ends. */
  readonly events: readonly AgUiEvent[]
  /** Set when the client would have failed the run here. Then the pipeline is dead. */
  readonly failure: { readonly rule: 'client-schema' | 'client-verify'; readonly error: unknown } | undefined
}

/** The stages an event passes in `@ag-ui/client`, from the transport to the reducer, fed one event at a time. */
interface ClientPipeline {
  send(event: BaseEvent): ClientResult
}

function createClientPipeline(): ClientPipeline {
  const source = new Subject<BaseEvent>()
  let rule: 'client-schema' | 'client-verify' = 'client-schema'
  let events: AgUiEvent[] = []
  let failure: ClientResult['failure']
  const input = { threadId: '', runId: '', messages: [], tools: [], context: [] }
  new CompatibilityBoundary()
    .run(input, new SourceAgent(source))
    .pipe(
      enforceEvents(),
      tap(() => (rule = 'client-verify')),
      transformChunks(),
      // Parsed by the event schema two stages up.
      tap((event) => events.push(event as unknown as AgUiEvent)),
      verifyEvents(),
    )
    .subscribe({
      error(error: unknown) {
        failure = { rule, error }
      },
    })
  return {
    send(event) {
      rule = 'client-schema'
      events = []
      source.next(event)
      return { events, failure }
    },
  }
}

class SourceAgent extends AbstractAgent {
  readonly #events: Observable<BaseEvent>

  constructor(events: Observable<BaseEvent>) {
    super()
    this.#events = events
  }

  run(): Observable<BaseEvent> {
    return this.#events
  }
}

import {
  AbstractAgent,
  CompatibilityBoundary,
  enforceEvents,
  transformChunks,
  verifyEvents,
} from '@ag-ui/client'
import type { BaseEvent } from '@ag-ui/core'
import { Subject, tap, type Observable } from 'rxjs'
import type { AgUiEvent } from '../protocol/index.js'

/** The result of one event in the client. */
export interface ClientResult {
  /** The event as the schema parsed it, chunks expanded into starts, contents and ends. */
  readonly events: readonly AgUiEvent[]
  /** Set when the client would have failed the run here. Then the pipeline is dead. */
  readonly failure: { readonly rule: 'client-schema' | 'client-verify'; readonly error: unknown } | undefined
}

/** The stages an event passes in `@ag-ui/client`, from the transport to the reducer, fed one event at a time. */
export interface ClientPipeline {
  send(event: BaseEvent): ClientResult
}

export function createClientPipeline(): ClientPipeline {
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

import type { Event, EventType } from '@ag-ui/core'

// Distributes over the union, so that each member keeps its own fields. The type may be written as a plain string:
// the enum's members are assignable to their strings, not the other way round.
type Written<E> = E extends { type: EventType } ? Omit<E, 'type'> & { type: `${E['type']}` } : never

/** Any AG-UI 1.0 event as it stands on the wire. */
export type AgUiEvent = Written<Event>

/** The event of one type, for example `EventOf<'CUSTOM'>`. */
export type EventOf<T extends AgUiEvent['type']> = Extract<AgUiEvent, { type: T }>

/** What an agent may emit: every AG-UI event except the three that open and end a run, which its owner writes. */
export type AgentEvent = Exclude<AgUiEvent, { type: 'RUN_STARTED' | 'RUN_FINISHED' | 'RUN_ERROR' }>

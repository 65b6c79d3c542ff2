import { isRecord, textOf, typeOf } from './json.js'
import type { RunEntry } from './run-file.js'

type SpanKind = 'message' | 'reasoning' | 'tool' | 'step' | 'subagent'

/** Something that went on for a while. Times are milliseconds since the first event, or numbers of events. */
export interface Span {
  readonly kind: SpanKind
  readonly id: string
  readonly label: string
  /** Indices of its first and last event. */
  readonly first: number
  last: number
  readonly from: number
  to: number
  /** When its first delta came. */
  firstDelta?: number
  /** No end has come. */
  isOpen: boolean
  hasFailed: boolean
  /** The row of its lane: spans of one row do not overlap. */
  row: number
}

/** The run's own agent, or one subagent. */
export interface Lane {
  readonly id: string
  readonly name: string
  /** 0 for the run's own. */
  readonly depth: number
  readonly spans: Span[]
  rows: number
}

/** A time in which nothing came. */
interface Gap {
  readonly from: number
  readonly to: number
  /** The event after it. */
  readonly index: number
}

export interface Timeline {
  /** `events`: no times are known, or all are the same, so positions are numbers of events. */
  readonly unit: 'ms' | 'events'
  /** When the first event came, milliseconds since 1970. 0 when it is not known. */
  readonly epoch: number
  readonly length: number
  readonly lanes: readonly Lane[]
  readonly gaps: readonly Gap[]
  /** When the first delta of text came. */
  readonly firstToken?: number
  /** The position of an event. */
  readonly timeOf: (index: number) => number
}

const maxGaps = 24

/** Draws up what went on when. */
export function buildTimeline(entries: readonly RunEntry[], agent: string): Timeline {
  const times = toTimes(entries)
  const board = new Board(agent)
  entries.forEach(({ event }, index) => board.take(event, index, times.at(index)))
  const length = times.at(entries.length - 1)
  board.close(entries.length - 1, length)
  for (const lane of board.lanes.values()) packRows(lane)
  return {
    ...{ unit: times.unit, epoch: times.epoch, length },
    lanes: [...board.lanes.values()],
    gaps: times.unit === 'ms' ? findGaps(entries, times.at, length) : [],
    ...(board.firstToken === undefined ? {} : { firstToken: board.firstToken }),
    timeOf: times.at,
  }
}

interface Times {
  readonly unit: Timeline['unit']
  readonly epoch: number
  readonly at: (index: number) => number
}

/** When each event came, as the reader noted it, or as the producer says. Never backwards. */
function toTimes(entries: readonly RunEntry[]): Times {
  const stamps = entries.map(({ at, event }) => at ?? (isRecord(event) ? event.timestamp : undefined))
  if (stamps.length < 2 || !stamps.every((stamp) => typeof stamp === 'number'))
    return { unit: 'events', epoch: 0, at: (index) => Math.max(0, index) }
  const [epoch = 0] = stamps
  let latest = epoch
  const since = stamps.map((stamp) => (latest = Math.max(latest, stamp)) - epoch)
  // All came at once: then their order says more.
  if (latest === epoch) return { unit: 'events', epoch, at: (index) => Math.max(0, index) }
  return { unit: 'ms', epoch, at: (index) => since[index] ?? 0 }
}

/** Spans by what opens and closes them, lane by lane. */
class Board {
  readonly lanes = new Map<string, Lane>()
  firstToken: number | undefined
  readonly #open = new Map<string, Span>()
  readonly #calls = new Map<string, Span>()
  /** Chunks open them, and nothing closes them. */
  readonly #implicit = new Set<Span>()

  constructor(agent: string) {
    this.#lane('', agent, 0)
  }

  take(event: unknown, index: number, time: number): void {
    const type = typeOf(event)
    if (type === undefined) return
    const owner = textOf(event, 'subagentRunId') ?? ''
    const messageId = textOf(event, 'messageId') ?? ''
    const toolCallId = textOf(event, 'toolCallId') ?? ''
    const at = { index, time, owner }
    switch (type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'THINKING_TEXT_MESSAGE_START':
        return void this.#start({ kind: toKind(type), id: messageId, label: '' }, at)
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'THINKING_TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
      case 'REASONING_MESSAGE_CHUNK':
        if (toKind(type) === 'message') this.firstToken ??= time
        return this.#continue(toKind(type), messageId, at)
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
      case 'THINKING_TEXT_MESSAGE_END':
        return this.#end(`${toKind(type)} ${messageId}`, at)
      case 'TOOL_CALL_START':
        return void this.#startCall(event, toolCallId, at)
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_CHUNK':
        if (type === 'TOOL_CALL_CHUNK' && toolCallId !== '' && !this.#calls.has(toolCallId))
          this.#implicit.add(this.#startCall(event, toolCallId, at))
        return this.#continue('tool', toolCallId, at)
      case 'TOOL_CALL_END':
        return this.#touch(this.#calls.get(toolCallId), at)
      case 'TOOL_CALL_RESULT':
        return this.#end(`tool ${toolCallId}`, at)
      case 'STEP_STARTED':
        return void this.#start({ kind: 'step', ...stepOf(event) }, at)
      case 'STEP_FINISHED':
        return this.#end(`step ${textOf(event, 'stepName') ?? ''}`, at)
      case 'SUBAGENT_STARTED':
        return this.#startSubagent(event, at)
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.#end(`subagent ${owner}`, at, type === 'SUBAGENT_ERROR')
      default:
    }
  }

  /** The run is over, or this is as far as it has come. */
  close(last: number, time: number): void {
    for (const span of this.#open.values()) {
      if (this.#implicit.has(span)) continue
      // A client's call has its result in the next run.
      if (span.kind !== 'tool') this.#touch(span, { index: last, time })
      span.isOpen = true
    }
  }

  #lane(id: string, name: string, depth: number): Lane {
    const lane = this.lanes.get(id) ?? { id, name, depth, spans: [], rows: 1 }
    this.lanes.set(id, lane)
    return lane
  }

  #startSubagent(event: unknown, at: Position): void {
    const name = textOf(event, 'name') ?? at.owner
    const parent = this.lanes.get(textOf(event, 'parentSubagentRunId') ?? '')
    this.#lane(at.owner, name, (parent?.depth ?? 0) + 1)
    this.#start({ kind: 'subagent', id: at.owner, label: name }, at)
  }

  #startCall(event: unknown, id: string, at: Position): Span {
    const span = this.#start({ kind: 'tool', id, label: textOf(event, 'toolCallName') ?? id }, at)
    this.#calls.set(id, span)
    return span
  }

  #start({ kind, id, label }: Pick<Span, 'kind' | 'id' | 'label'>, { index, time, owner }: Position): Span {
    const span: Span = {
      ...{ kind, id, label, first: index, last: index, from: time, to: time },
      ...{ isOpen: false, hasFailed: false, row: 0 },
    }
    this.#open.set(`${kind} ${id}`, span)
    this.#lane(owner, owner, 1).spans.push(span)
    return span
  }

  #continue(kind: SpanKind, id: string, at: Position): void {
    const known = this.#open.get(`${kind} ${id}`)
    if (!known && id === '') return
    const span = known ?? this.#start({ kind, id, label: '' }, at)
    if (!known) this.#implicit.add(span)
    span.firstDelta ??= at.time
    this.#touch(span, at)
  }

  #touch(span: Span | undefined, { index, time }: Omit<Position, 'owner'>): void {
    if (!span) return
    span.last = index
    span.to = time
  }

  #end(key: string, at: Position, hasFailed = false): void {
    const span = this.#open.get(key)
    if (!span) return
    this.#touch(span, at)
    span.hasFailed = hasFailed
    this.#open.delete(key)
  }
}

interface Position {
  readonly index: number
  readonly time: number
  readonly owner: string
}

function stepOf(event: unknown): { readonly id: string; readonly label: string } {
  const name = textOf(event, 'stepName') ?? ''
  return { id: name, label: name }
}

function toKind(type: string): 'message' | 'reasoning' {
  return type.startsWith('TEXT_') ? 'message' : 'reasoning'
}

/** Gives each span the first row that is free. Steps and subagents are around the others, so they come first. */
function packRows(lane: Lane): void {
  const ends: number[] = []
  const order = { subagent: 0, step: 1, reasoning: 2, message: 2, tool: 2 }
  const sorted = lane.spans.toSorted((a, b) => a.first - b.first || order[a.kind] - order[b.kind])
  for (const span of sorted) {
    let row = ends.findIndex((end) => end < span.first)
    if (row < 0) row = ends.length
    ends[row] = span.last
    span.row = row
  }
  lane.rows = Math.max(1, ends.length)
}

/** Silences of at least a twentieth of the run and a quarter of a second: the longest ones, in their order. */
function findGaps(entries: readonly RunEntry[], at: (index: number) => number, length: number): Gap[] {
  const least = Math.max(250, length / 20)
  const gaps: Gap[] = []
  for (let index = 1; index < entries.length; index++) {
    const [from, to] = [at(index - 1), at(index)]
    if (to - from >= least) gaps.push({ from, to, index })
  }
  return gaps
    .toSorted((a, b) => b.to - b.from - (a.to - a.from))
    .slice(0, maxGaps)
    .toSorted((a, b) => a.index - b.index)
}

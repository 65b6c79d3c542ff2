import {
  createDowngrade,
  createProtobufEncoder,
  eventIdPrefix,
  formatEventId,
  protobufMediaType,
  sseHeaders,
  speaksNewest,
  sseHeartbeat,
  toNewestVersion,
  toVersion10,
  type AgUiEvent,
  type Downgrade,
  type DowngradeOptions,
  type EventPosition,
  type Peer,
  type WireFormat,
} from '../../protocol/index.js'
import { systemClock, type Clock } from '../../core/clock.js'
import type { LogEntry } from '../../threads/contract.js'
import type { StreamOptions } from '../contract.js'
import { withTimestamp } from '../hooks/output-hooks.js'

/** An event of a run log, and where a client that has it can come back to, if its number alone does not say it. */
export interface FrameEntry extends LogEntry {
  readonly position?: string
}

/** Events that are written together. Entries of a run log have numbers that clients reconnect with. */
export type FrameBatch =
  | { readonly runId: string; readonly entries: readonly FrameEntry[] }
  | {
      readonly runId?: undefined
      readonly events: readonly AgUiEvent[]
      /** The position of a client that has all of them. */
      readonly position?: EventPosition
    }

/** Encodes the events of one response. */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>
  /** Keeps a quiet stream alive. Undefined when the format has no such thing. */
  readonly heartbeat: string | undefined
  /** Must get the batches of the response in order. Returns nothing for a batch the client cannot read. */
  frame(batch: FrameBatch): string | Uint8Array
}

export interface FramingOptions extends DowngradeOptions {
  readonly stream?: StreamOptions
  readonly clock?: Clock
}

export async function createFraming(
  format: WireFormat,
  peer: Peer,
  { stream = {}, clock = systemClock, ...options }: FramingOptions = {},
): Promise<Framing> {
  const { timestamps = false, eventLines = false } = stream
  const isSse = format === 'sse'
  // The encoding of 1.0 has no field for what 1.1 adds.
  const version = peer.legacy ? legacyVersion(options) : isSse && speaksNewest(peer) ? newest : version10
  const framing = isSse ? new SseFraming(version, eventLines) : await createProtobufFraming(version)
  return timestamps ? withTimestamps(framing, clock) : framing
}

/** How the events of the server become those of one version of AG-UI. */
interface WireVersion {
  readonly translate: Downgrade
  /** Whether an event in JSON needs no translation. */
  isSame(json: string): boolean
}

const newest: WireVersion = {
  translate: (event) => [toNewestVersion(event)],
  isSame: (json) => !json.startsWith('{"type":"RUN_STARTED"'),
}

const version10: WireVersion = {
  translate: (event) => [toVersion10(event)],
  isSame: (json) => !json.includes('"encryptedValueType"'),
}

// These are the same for older clients unless they belong to a subagent, and they are nearly all there is.
const delta = /^\{"type":"(?:TEXT_MESSAGE_CONTENT|REASONING_MESSAGE_CONTENT|TOOL_CALL_ARGS)"/

function legacyVersion(options: DowngradeOptions): WireVersion {
  return {
    translate: createDowngrade(options),
    isSame: (json) => delta.test(json) && !json.includes('"subagentRunId"'),
  }
}

/** Adds timestamps to events that are in no log. Entries of a log have theirs. */
function withTimestamps(framing: Framing, clock: Clock): Framing {
  const stamp = (event: AgUiEvent): AgUiEvent => withTimestamp(event, clock)
  return {
    headers: framing.headers,
    heartbeat: framing.heartbeat,
    frame: (batch) =>
      framing.frame(batch.runId === undefined ? { ...batch, events: batch.events.map(stamp) } : batch),
  }
}

class SseFraming implements Framing {
  readonly headers = sseHeaders
  readonly heartbeat = sseHeartbeat
  readonly #version: WireVersion
  #runId: string | undefined
  #prefix = ''
  readonly #eventLines: boolean

  constructor(version: WireVersion, eventLines: boolean) {
    this.#version = version
    this.#eventLines = eventLines
  }

  frame(batch: FrameBatch): string {
    const version = this.#version
    let text = ''
    if (batch.runId === undefined) return this.#frameEvents(batch)
    if (batch.runId !== this.#runId) {
      this.#runId = batch.runId
      this.#prefix = `id: ${eventIdPrefix(batch.runId)}`
    }
    const prefix = this.#prefix
    for (const entry of batch.entries) {
      if (!version.isSame(entry.json)) {
        const sent = version
          .translate(parseEntry(entry))
          .map((event) => this.#frameData(JSON.stringify(event)))
        const last = sent.pop()
        // The last of an entry has its number: a client that lost one of the others gets all again.
        if (last !== undefined) text += `${sent.join('')}${prefix}${entry.position ?? entry.seq}\n${last}`
      } else if (this.#eventLines)
        text += `${prefix}${entry.position ?? entry.seq}\n${this.#frameData(entry.json)}`
      // The path of nearly every event.
      else text += `${prefix}${entry.position ?? entry.seq}\ndata: ${entry.json}\n\n`
    }
    return text
  }

  #frameEvents({ events, position }: Extract<FrameBatch, { readonly events: unknown }>): string {
    const frames = events
      .flatMap(this.#version.translate)
      .map((event) => this.#frameData(JSON.stringify(event)))
    const last = frames.pop() ?? ''
    const id = position && last !== '' ? `id: ${formatEventId(position)}\n` : ''
    return `${frames.join('')}${id}${last}`
  }

  #frameData(json: string): string {
    return this.#eventLines ? `event: ${eventTypeIn(json)}\ndata: ${json}\n\n` : `data: ${json}\n\n`
  }
}

/** The type of an event in JSON. Needs no parsing unless a hook has put other members first. */
export function eventTypeIn(json: string): AgUiEvent['type'] {
  const found = /^\{"type":"([A-Z_]+)"/.exec(json)?.[1] as AgUiEvent['type'] | undefined
  return found ?? (JSON.parse(json) as AgUiEvent).type
}

/** Needs no check: this server wrote the log. */
export function parseEntry({ json }: LogEntry): AgUiEvent {
  return JSON.parse(json) as AgUiEvent
}

async function createProtobufFraming({ translate }: WireVersion): Promise<Framing> {
  const encode = await createProtobufEncoder()
  return {
    headers: { ...sseHeaders, 'content-type': protobufMediaType },
    heartbeat: undefined,
    frame(batch) {
      const events = batch.runId === undefined ? batch.events : batch.entries.map(parseEntry)
      return concatBytes(events.flatMap(translate).map((event) => encode(event)))
    },
  }
}

function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (parts.length === 1 && only) return only
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

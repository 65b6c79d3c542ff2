import {
  createDowngrade,
  createProtobufEncoder,
  eventIdPrefix,
  protobufMediaType,
  sseHeaders,
  sseHeartbeat,
  type AgUiEvent,
  type Downgrade,
  type DowngradeOptions,
  type Peer,
  type WireFormat,
} from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'

/** Events that are written together. Entries of a run log have numbers that clients reconnect with; events have none. */
export type FrameBatch =
  | { readonly runId: string; readonly entries: readonly LogEntry[] }
  | { readonly runId?: undefined; readonly events: readonly AgUiEvent[] }

/** Encodes the events of one response. */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>
  /** Keeps a quiet stream alive. Undefined when the format has no such thing. */
  readonly heartbeat: string | undefined
  /** Must get the batches of the response in order. Returns nothing for a batch the client cannot read. */
  frame(batch: FrameBatch): string | Uint8Array
}

export async function createFraming(
  format: WireFormat,
  peer: Peer,
  options: DowngradeOptions = {},
): Promise<Framing> {
  const downgrade = peer.legacy ? createDowngrade(options) : undefined
  return format === 'sse' ? new SseFraming(downgrade) : createProtobufFraming(downgrade)
}

class SseFraming implements Framing {
  readonly headers = sseHeaders
  readonly heartbeat = sseHeartbeat
  readonly #downgrade: Downgrade | undefined
  #runId: string | undefined
  #prefix = ''

  constructor(downgrade: Downgrade | undefined) {
    this.#downgrade = downgrade
  }

  frame(batch: FrameBatch): string {
    const downgrade = this.#downgrade
    let text = ''
    if (batch.runId === undefined) {
      for (const event of batch.events) {
        const sent = downgrade ? downgrade(event) : event
        if (sent) text += `data: ${JSON.stringify(sent)}\n\n`
      }
      return text
    }
    if (batch.runId !== this.#runId) {
      this.#runId = batch.runId
      this.#prefix = `id: ${eventIdPrefix(batch.runId)}`
    }
    const prefix = this.#prefix
    for (const entry of batch.entries) {
      const data = downgrade ? downgradeEntry(entry, downgrade) : entry.json
      if (data !== undefined) text += `${prefix}${entry.seq}\ndata: ${data}\n\n`
    }
    return text
  }
}

// These are the same for older clients unless they belong to a subagent, and they are nearly all there is.
const delta = /^\{"type":"(?:TEXT_MESSAGE_CONTENT|REASONING_MESSAGE_CONTENT|TOOL_CALL_ARGS)"/

function downgradeEntry(entry: LogEntry, downgrade: Downgrade): string | undefined {
  const { json } = entry
  if (delta.test(json) && !json.includes('"subagentRunId"')) return json
  const sent = downgrade(parseEntry(entry))
  return sent && JSON.stringify(sent)
}

/** Needs no check: this server wrote the log. */
function parseEntry({ json }: LogEntry): AgUiEvent {
  return JSON.parse(json) as AgUiEvent
}

async function createProtobufFraming(downgrade: Downgrade | undefined): Promise<Framing> {
  const encode = await createProtobufEncoder()
  return {
    headers: { ...sseHeaders, 'content-type': protobufMediaType },
    heartbeat: undefined,
    frame(batch) {
      const events = batch.runId === undefined ? batch.events : batch.entries.map(parseEntry)
      const parts = events.flatMap((event) => {
        const sent = downgrade ? downgrade(event) : event
        return sent ? [encode(sent)] : []
      })
      return concatBytes(parts)
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

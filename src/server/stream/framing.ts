import {
  type AgUiEvent,
  createDowngrade,
  createProtobufEncoder,
  type Downgrade,
  eventIdPrefix,
  type Peer,
  protobufMediaType,
  sseHeaders,
  sseHeartbeat,
  type WireFormat,
} from '../../protocol/index.js'
import type { LogEntry } from '../../threads/store.js'

/** How the events of one response are written. */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>
  /** What keeps a silent stream alive, if the format has such a thing. */
  readonly heartbeat: string | undefined
  /** Takes the batches of one response in order. Nothing when the client gets none of it. */
  frame(batch: Batch): string | Uint8Array
}

export async function createFraming(format: WireFormat, peer: Peer): Promise<Framing> {
  const downgrade = peer.legacy ? createDowngrade() : undefined
  if (format === 'sse') return new SseFraming(downgrade)
  const encode = await createProtobufEncoder()
  const bytes = (batch: Batch): Uint8Array[] =>
    eventsOf(batch).flatMap((event) => {
      const sent = downgrade ? downgrade(event) : event
      return sent ? [encode(sent)] : []
    })
  return {
    headers: { ...sseHeaders, 'content-type': protobufMediaType },
    heartbeat: undefined,
    frame: (batch) => joined(bytes(batch)),
  }
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

  frame(batch: Batch): string {
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
      const data = downgrade ? downgraded(entry, downgrade) : entry.json
      if (data !== undefined) text += `${prefix}${entry.seq}\ndata: ${data}\n\n`
    }
    return text
  }
}

// Without the tag of a subagent these are the same for older clients, and they are nearly all there is.
const delta = /^\{"type":"(?:TEXT_MESSAGE_CONTENT|REASONING_MESSAGE_CONTENT|TOOL_CALL_ARGS)"/

function downgraded(entry: LogEntry, downgrade: Downgrade): string | undefined {
  const { json } = entry
  if (delta.test(json) && !json.includes('"subagentRunId"')) return json
  const sent = downgrade(eventOf(entry))
  return sent && JSON.stringify(sent)
}

function eventsOf(batch: Batch): readonly AgUiEvent[] {
  return batch.runId === undefined ? batch.events : batch.entries.map(eventOf)
}

/** What was read from a log has been written by this server. */
function eventOf({ json }: LogEntry): AgUiEvent {
  return JSON.parse(json) as AgUiEvent
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
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

/** Events that leave together. Those of a log have numbers a client can come back with; others have none. */
export type Batch =
  | { readonly runId: string; readonly entries: readonly LogEntry[] }
  | { readonly runId?: undefined; readonly events: readonly AgUiEvent[] }

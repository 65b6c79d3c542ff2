/** Where an event stands: its run, and its number in that run's log. */
export interface EventPosition {
  readonly runId: string
  readonly seq: number
}

// `encodeURIComponent` throws on half of a surrogate pair, which a run id from JSON may hold.
const loneSurrogates = /\p{Surrogate}/gu

/** The run's part of its event ids, up to and including the colon. No byte of a run id can break the SSE framing. */
export function eventIdPrefix(runId: string): string {
  return `${encodeURIComponent(runId.replace(loneSurrogates, '\ufffd'))}:`
}

/** The id of an event as it stands in an SSE `id:` line and comes back as `Last-Event-ID`: `<run>:<seq>`. */
export function formatEventId({ runId, seq }: EventPosition): string {
  return `${eventIdPrefix(runId)}${seq}`
}

/** Reads an event id. Whatever `formatEventId` cannot have written yields undefined. */
export function parseEventId(id: string): EventPosition | undefined {
  const colon = id.lastIndexOf(':')
  const runId = decode(id.slice(0, Math.max(colon, 0)))
  const seq = Number(id.slice(colon + 1))
  if (runId === undefined || !Number.isSafeInteger(seq) || seq < 0) return undefined
  return formatEventId({ runId, seq }) === id ? { runId, seq } : undefined
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** One frame of an SSE stream, as it came. */
export interface RawFrame {
  readonly raw: string
  /** The joined `data` lines. Undefined: the frame has none, such as a comment that keeps the stream open. */
  readonly data?: string
}

/** The most that AG-UI clients buffer for one frame. */
const maxFrame = 10 * 1024 * 1024

/**
 * Cuts an SSE stream into its frames and keeps each as it came. Lines may end as they like, and chunks anywhere; a last frame
 * without its blank line is read too. Throws a `RangeError` when a frame grows beyond 10 Mi characters.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly RawFrame[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      // The second half of a CRLF may be in the next chunk.
      const end = done ? rest.length : lastBoundary(rest)
      const frames = toFrames(rest.slice(0, end))
      rest = rest.slice(end)
      if (rest.length > maxFrame) throw new RangeError('frame')
      if (frames.length > 0) yield frames
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const boundary = /(?:\r\n|\n|\r(?!\n|$))(?:\r\n|\n|\r(?!\n|$))+/g

function lastBoundary(text: string): number {
  let end = 0
  for (const match of text.matchAll(boundary)) end = match.index + match[0].length
  return end
}

function toFrames(text: string): RawFrame[] {
  return text
    .split(/(?:\r\n|\n|\r){2,}/)
    .filter((raw) => raw.trim() !== '')
    .map(toFrame)
}

function toFrame(raw: string): RawFrame {
  const data = raw
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:') || line === 'data')
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
  return data.length === 0 ? { raw } : { raw, data: data.join('\n') }
}

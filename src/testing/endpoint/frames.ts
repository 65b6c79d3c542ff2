import { createParser } from 'eventsource-parser'
import { describeValue } from '../describe.js'
import type { LintRule } from '../lint-rules.js'

/** The most a client buffers of an unfinished frame. */
const MAX_FRAME_LENGTH = 10 * 1024 * 1024

/** Takes the text of an event stream apart, and reports what a client of AG-UI cannot read. */
export interface FrameReader {
  /** The JSON document of every frame so far. */
  readonly events: readonly unknown[]
  /** True until there is a frame with data, readable or not. */
  readonly isEmpty: boolean
  /** False once the text cannot be followed any further. */
  readonly isReadable: boolean
  feed(text: string): void
  /** Takes what is left as the last frame, as clients do. */
  end(): void
}

/** `report` is called as soon as something is found. */
export function createFrameReader(report: (rule: LintRule, message: string) => void): FrameReader {
  const events: unknown[] = []
  let count = 0
  let hasCarriageReturn = false
  let isReadable = true

  const overflow = (): void => {
    isReadable = false
    count++
    report('frame-size', `frame ${count} has more than ${MAX_FRAME_LENGTH} characters`)
  }
  const parser = createParser({
    maxBufferSize: MAX_FRAME_LENGTH,
    onEvent({ data }) {
      if (!isReadable) return
      // Whether the parser ran full before this frame was complete depends on how the bytes arrived.
      if (data.length > MAX_FRAME_LENGTH) {
        overflow()
        return
      }
      count++
      const document = parseJson(data)
      if (document) events.push(document.value)
      else report('frame-json', `frame ${count} ${faultOf(data)}`)
    },
    onError({ type }) {
      // Clients ignore unknown fields, and so does this.
      if (type === 'max-buffer-size-exceeded') overflow()
    },
  })

  return {
    events,
    get isEmpty() {
      return count === 0
    },
    get isReadable() {
      return isReadable
    },
    feed(text) {
      if (!hasCarriageReturn && text.includes('\r')) {
        hasCarriageReturn = true
        report('line-endings', 'the stream has a carriage return: lines end in LF alone')
      }
      if (isReadable) parser.feed(text)
    },
    end() {
      if (isReadable) parser.feed('\n\n')
    },
  }
}

function parseJson(data: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(data) }
  } catch {
    // Not JSON: the caller reports it.
    return undefined
  }
}

function faultOf(data: string): string {
  if (data === '') return 'has an empty data field'
  if (data === '[DONE]') return 'is [DONE]: the end of a run is its terminal event and the end of the body'
  return `is not JSON: ${describeValue(data)}`
}

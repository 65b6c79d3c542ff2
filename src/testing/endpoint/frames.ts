import { createParser } from 'eventsource-parser'
import { describeValue } from '../describe.js'
import type { LintRule } from '../lint-rules.js'

/** The most a client buffers of an unfinished frame. */
const MAX_FRAME_LENGTH = 10 * 1024 * 1024

/** Takes the text of an event stream apart, and reports what a client of AG-UI cannot read. */
export interface FrameReader {
  /** The JSON document of every frame so far. */
  readonly events: readonly unknown[]
  /** Frames with data so far, readable or not. */
  readonly count: number
  /** False once the text cannot be followed any further. */
  readonly isReadable: boolean
  feed(text: string): void
  /** Takes what is left as the last frame, as clients do. */
  end(): void
}

export function createFrameReader(report: (rule: LintRule, message: string) => void): FrameReader {
  const events: unknown[] = []
  let count = 0
  let hasCarriageReturn = false
  let isReadable = true

  const parser = createParser({
    maxBufferSize: MAX_FRAME_LENGTH,
    onEvent({ data }) {
      count++
      const event = parseJson(data)
      if (event === undefined) report('frame-json', `frame ${count} ${faultOf(data)}`)
      else events.push(event.value)
    },
    onError({ type }) {
      // Unknown fields are ignored by clients and so by this.
      if (type !== 'max-buffer-size-exceeded') return
      isReadable = false
      report('frame-size', `frame ${count + 1} has more than ${MAX_FRAME_LENGTH} characters`)
    },
  })

  return {
    events,
    get count() {
      return count
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

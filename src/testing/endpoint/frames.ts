import { createParser } from 'eventsource-parser'
import { parseJson } from '../../core/json.js'
import { describeBriefly } from '../describe.js'
import type { LintRule } from '../rules/rule-names.js'

/** The most a client buffers of an unfinished frame. */
const maxFrameLength = 10 * 1024 * 1024

/** Splits the text of an event stream into frames, and reports what a client of AG-UI cannot read. */
export interface FrameReader {
  /** The JSON document of every frame so far. */
  readonly events: readonly unknown[]
  /** True until there is a frame with data, readable or not. */
  readonly isEmpty: boolean
  /** False once the rest of the text cannot be read. */
  readonly isReadable: boolean
  feed(text: string): void
  /** Reads what is left as the last frame, as clients do. */
  end(): void
}

/** Calls `report` as soon as it finds a problem. */
export function createFrameReader(report: (rule: LintRule, message: string) => void): FrameReader {
  const events: unknown[] = []
  let count = 0
  let hasCarriageReturn = false
  let isReadable = true

  const overflow = (): void => {
    isReadable = false
    count++
    report('frame-size', `frame ${count} has more than ${maxFrameLength} characters`)
  }
  const parser = createParser({
    maxBufferSize: maxFrameLength,
    onEvent({ data }) {
      if (!isReadable) return
      // The parser may miss a frame that is too large, depending on how the bytes arrived.
      if (data.length > maxFrameLength) {
        overflow()
        return
      }
      count++
      const document = parseJson(data)
      if (document !== undefined) events.push(document)
      else report('frame-json', `frame ${count} ${frameProblem(data)}`)
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

function frameProblem(data: string): string {
  if (data === '') return 'has an empty data field'
  if (data === '[DONE]') return 'is [DONE]: the end of a run is its terminal event and the end of the body'
  return `is not JSON: ${describeBriefly(data)}`
}

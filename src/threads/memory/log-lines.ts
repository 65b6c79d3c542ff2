import { MillraceError } from '../../core/errors.js'
import { fromLogText, toLogText } from '../log-text.js'
import type { LogEntry } from '../store.js'
import type { LogBatch } from '../thread.js'

/** Lines whose numbers follow each other, as one text: thousands of small strings would keep the garbage collector busy. */
interface Stretch {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly text: string
}

/** The lines of one run. Their numbers grow, and may leave some out. */
export interface LogLines {
  /** The number of the last line, -1 when there is none. */
  lastSeq(): number
  /** Throws STORE_ERROR, with nothing added, when a number is not higher than those before. */
  append(batch: LogBatch): void
  /** At most `limit` lines after a number. Takes no longer for lines further back. */
  read(after: number, limit: number): LogEntry[]
}

/** Makes an empty log. */
export function createLogLines(): LogLines {
  const stretches: Stretch[] = []
  const lastSeq = (): number => stretches.at(-1)?.lastSeq ?? -1
  return {
    lastSeq,
    append({ runId, firstSeq, lines }) {
      if (lines.length === 0) return
      if (firstSeq <= lastSeq())
        throw new MillraceError('STORE_ERROR', `The log has an event with the number ${firstSeq} already.`, {
          details: { runId, firstSeq, lastSeq: lastSeq() },
        })
      stretches.push({ firstSeq, lastSeq: firstSeq + lines.length - 1, text: toLogText(lines) })
    },
    read(after, limit) {
      const entries: LogEntry[] = []
      for (
        let index = firstAfter(stretches, after);
        index < stretches.length && entries.length < limit;
        index++
      )
        addEntries(entries, stretches[index], { after, limit })
      return entries
    },
  }
}

/** Where the first stretch with a line after that number is, by halving. */
function firstAfter(stretches: readonly Stretch[], after: number): number {
  let [low, high] = [0, stretches.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((stretches[middle]?.lastSeq ?? Infinity) > after) high = middle
    else low = middle + 1
  }
  return low
}

function addEntries(
  entries: LogEntry[],
  stretch: Stretch | undefined,
  { after, limit }: { after: number; limit: number },
): void {
  if (stretch === undefined) return
  const { firstSeq, text } = stretch
  const lines = fromLogText(text)
  for (let at = Math.max(after + 1 - firstSeq, 0); at < lines.length && entries.length < limit; at++) {
    const json = lines[at]
    if (json !== undefined) entries.push({ seq: firstSeq + at, json })
  }
}

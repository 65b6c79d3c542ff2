import { MillraceError } from '../../core/errors.js'
import type { LogEntry } from '../store.js'
import type { LogBatch } from '../thread.js'

/** Lines whose numbers follow each other. */
interface Stretch {
  readonly firstSeq: number
  readonly lines: string[]
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
  // More than one only where numbers were left out.
  const stretches: Stretch[] = []
  const lastSeq = (): number => {
    const last = stretches.at(-1)
    return last === undefined ? -1 : endOf(last) - 1
  }
  return {
    lastSeq,
    append({ runId, firstSeq, lines }) {
      if (lines.length === 0) return
      const last = stretches.at(-1)
      if (firstSeq <= lastSeq())
        throw new MillraceError('STORE_ERROR', `The log has an event with the number ${firstSeq} already.`, {
          details: { runId, firstSeq, lastSeq: lastSeq() },
        })
      if (last === undefined || endOf(last) !== firstSeq) stretches.push({ firstSeq, lines: [...lines] })
      else for (const line of lines) last.lines.push(line)
    },
    read(after, limit) {
      const entries: LogEntry[] = []
      let index = stretches.findLastIndex(({ firstSeq }) => firstSeq <= after + 1)
      for (index = Math.max(index, 0); index < stretches.length && entries.length < limit; index++)
        addEntries(entries, stretches[index], { after, limit })
      return entries
    },
  }
}

function endOf({ firstSeq, lines }: Stretch): number {
  return firstSeq + lines.length
}

function addEntries(
  entries: LogEntry[],
  stretch: Stretch | undefined,
  { after, limit }: { after: number; limit: number },
): void {
  if (stretch === undefined) return
  const { firstSeq, lines } = stretch
  for (let at = Math.max(after + 1 - firstSeq, 0); at < lines.length && entries.length < limit; at++) {
    const json = lines[at]
    if (json !== undefined) entries.push({ seq: firstSeq + at, json })
  }
}

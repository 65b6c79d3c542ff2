import { formatDuration } from '../ui/duration.js'
import type { Span } from './thread-notes.js'

/** Events that come at once are those of a run that went on before the page was loaded, or of work too short to tell. */
const leastMs = 50

/** How long something took, in words. Undefined while it lasts, and when nobody knows. */
export function tookOf(span: Span | undefined): string | undefined {
  if (span?.endedAt === undefined) return undefined
  const ms = span.endedAt - span.startedAt
  return ms < leastMs ? undefined : formatDuration(ms)
}

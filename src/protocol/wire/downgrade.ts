import type { AgUiEvent } from '../events.js'
import type { FieldNote } from '../check/field-note.js'
import { createSubagentInliner } from './inline-subagents.js'
import { toLegacyShape } from './legacy-shape.js'

/** How a stream is downgraded. */
export interface DowngradeOptions {
  /** Told what was lost on the way, by event and field: `TOOL_CALL_RESULT.content`. Must not throw. */
  readonly warn?: (note: FieldNote) => void
  /**
   * `inline`, the default, shows the work of subagents as the parent's own: clients before 0.0.59 fail on the
   * events that announce a subagent. `keep` leaves those events and the attribution as they are.
   */
  readonly subagents?: 'inline' | 'keep'
}

/** Turns an event into what an older client reads, or into nothing. Never mutates the event. */
export type Downgrade = (event: AgUiEvent) => AgUiEvent | undefined

/**
 * Makes the downgrade of one stream to a client that declares no protocol version. Such clients (0.0.59 and before)
 * validate strictly: one shape they do not know ends the whole stream. The result is also valid AG-UI 1.0.
 *
 * Takes the events of a stream in order. Chunk events must have been expanded, as the run stream does: without the
 * attribution, one that names no message could continue the wrong one.
 */
export function createDowngrade({ warn = ignore, subagents = 'inline' }: DowngradeOptions = {}): Downgrade {
  if (subagents === 'keep') return (event) => toLegacyShape(event, warn)
  const inline = createSubagentInliner()
  return function downgrade(event) {
    const inlined = inline(event)
    return inlined && toLegacyShape(inlined, warn)
  }
}

function ignore(): void {
  // Without a listener there is nobody to tell.
}

import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/store.js'

/** Events that leave together. Those of a log have numbers a client can come back with; others have none. */
export type Batch =
  | { readonly runId: string; readonly entries: readonly LogEntry[] }
  | { readonly runId?: undefined; readonly events: readonly AgUiEvent[] }

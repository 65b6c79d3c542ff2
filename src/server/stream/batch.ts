import type { AgUiEvent } from '../../protocol/index.js'
import type { Entry } from '../live/feed.js'

/** Events that leave together. Those of a log have numbers a client can come back with; others have none. */
export type Batch =
  | { readonly runId: string; readonly entries: readonly Entry[] }
  | { readonly runId?: undefined; readonly events: readonly AgUiEvent[] }

export type { AgentEvent, AgUiEvent, EventOf } from './events.js'
export { createFold, type Fold, type FoldOptions } from './fold/fold.js'

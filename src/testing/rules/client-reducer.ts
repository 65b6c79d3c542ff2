import type { AgUiEvent } from '../../protocol/index.js'
import type { LintRule } from '../lint-rules.js'

/** The rule an event breaks when a client's reducer cannot make sense of it; undefined where other rules see to it. */
export function reducerRule(type: AgUiEvent['type']): LintRule | undefined {
  switch (type) {
    case 'STATE_DELTA':
      return 'state-delta'
    case 'ACTIVITY_DELTA':
      return 'activity-delta'
    case 'REASONING_ENCRYPTED_VALUE':
      return 'encrypted-value'
    case 'TEXT_MESSAGE_START':
    case 'REASONING_MESSAGE_START':
    case 'TOOL_CALL_START':
    case 'ACTIVITY_SNAPSHOT':
      return 'message-id-reuse'
    case 'TOOL_CALL_RESULT':
      return undefined
    default:
      return 'client-warning'
  }
}

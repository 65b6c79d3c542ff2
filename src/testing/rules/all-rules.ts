import type { RunAgentInput } from '@ag-ui/core'
import { createFold, type AgUiEvent } from '../../protocol/index.js'
import { interruptRules } from './interrupts.js'
import type { LintRule } from './rule-names.js'
import { messageRules } from './messages.js'
import { payloadRules } from './payload.js'
import type { Finding, Rule, RuleContext } from './rule.js'
import { initialFacts, nextFacts } from './run-facts.js'
import { lastRunProblem, runEndRules, runIdentityRules, subagentRules } from './runs.js'
import { toolRules } from './tools.js'
import { versionGateRules } from './version-gate.js'

/** All rules about single events. A new rule is named in `rule-names.ts` and defined in the file of its topic. */
const rules: readonly Rule[] = [
  ...runIdentityRules,
  ...runEndRules,
  ...versionGateRules,
  ...payloadRules,
  ...messageRules,
  ...toolRules,
  ...interruptRules,
  ...subagentRules,
]

/** Checks the events of one stream, in order, against the rules. */
interface RuleChecker {
  check(event: AgUiEvent, sent: RuleContext['sent'], index: number): readonly Finding[]
  /** Violations found only at the end, each with its event. */
  end(): readonly (Finding & { readonly index: number | undefined })[]
}

/** `input` is the request the stream answers, when it is known. */
export function createRuleChecker(input: RunAgentInput | undefined): RuleChecker {
  const fold = createFold({ messages: input?.messages ?? [], state: input?.state ?? {} })
  let run = initialFacts(fold.messages)
  return {
    check(event, sent, index) {
      const { messages } = fold
      const context = { event, sent, run, messages, input }
      const findings = rules.flatMap((rule) => findingsOf(rule, context))
      run = nextFacts(run, { event, index, messages })
      const message = fold.apply(event)
      const rule = reducerRule(event.type)
      return message === undefined || !rule ? findings : [...findings, { rule, message }]
    },
    end() {
      const message = input && lastRunProblem(run, input)
      return message === undefined ? [] : [{ rule: 'run-id', message, index: run.started?.index }]
    },
  }
}

function findingsOf(rule: Rule, context: RuleContext): Finding[] {
  return [...rule.check(context)].map((message) => ({ rule: rule.name, message }))
}

/** The rule an event breaks when a client's reducer cannot apply it. Undefined where another rule checks that. */
function reducerRule(type: AgUiEvent['type']): LintRule | undefined {
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

import type { BaseEvent } from '@ag-ui/core'
import { createFold, type AgUiEvent } from '../protocol/index.js'
import { createClientCheck } from './client-check.js'
import { describeValue } from './describe.js'
import { isRecord } from './is-record.js'
import type { LintRule, Violation } from './lint-rules.js'
import { reducerRule } from './rules/client-reducer.js'
import { interruptRules } from './rules/interrupts.js'
import { messageRules } from './rules/messages.js'
import { withoutNulls } from './rules/null-fields.js'
import { payloadRules } from './rules/payload.js'
import type { Rule } from './rules/rule.js'
import { runEndRules } from './rules/run-end.js'
import { lastRunProblem, runIdentityRules } from './rules/run-identity.js'
import { subagentRules } from './rules/subagents.js'
import { toolRules } from './rules/tools.js'
import { versionGateRules } from './rules/version-gate.js'
import { initialFacts, nextFacts } from './run-facts.js'
import { parseRunInput } from './run-input.js'

export interface LintOptions {
  /** The RunAgentInput the stream answers. Without it, nothing is compared with the request. */
  readonly input?: unknown
  /** Whether the stream has been read to its end. When false, what is still to come is not missed. */
  readonly complete?: boolean
}

/** Linting stops here: a producer this wrong is understood by now. */
const MAX_VIOLATIONS = 100

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

/**
 * Everything a producer did wrong in a stream of AG-UI 1.0 events, in order; at most 100 violations. The events may
 * be any values. Throws only when `input` is not a valid RunAgentInput.
 *
 * @example
 * const violations = lintEvents(events, { input })
 * for (const { rule, message, index } of violations) console.log(`${index} [${rule}] ${message}`)
 */
export function lintEvents(events: Iterable<unknown>, options: LintOptions = {}): Violation[] {
  const linter = createLinter(options)
  let index = 0
  for (const event of events) {
    linter.take(event, index++)
    if (linter.violations.length >= MAX_VIOLATIONS) return linter.violations.slice(0, MAX_VIOLATIONS)
  }
  linter.end()
  return linter.violations
}

function createLinter({ input: given, complete = true }: LintOptions) {
  const input = given === undefined ? undefined : parseRunInput(given)
  const violations: Violation[] = []
  const client = createClientCheck()
  const fold = createFold({ messages: input?.messages ?? [], state: input?.state ?? {} })
  let facts = initialFacts(fold.messages)
  let hasEnded = false

  const report = (rule: LintRule, message: string, index?: number): void => {
    violations.push({ rule, message, index })
  }
  const judge = (event: AgUiEvent, sent: Record<string, unknown>, index: number): void => {
    const { messages } = fold
    for (const rule of rules) {
      const found = rule.check({ event, sent, run: facts, messages, input })
      for (const message of found) report(rule.name, message, index)
    }
    facts = nextFacts(facts, { event, index, messages })
    const problem = fold.apply(event)
    const rule = problem === undefined ? undefined : reducerRule(event.type)
    if (problem !== undefined && rule) report(rule, problem, index)
  }

  return {
    violations,
    take(value: unknown, index: number): void {
      if (!isEvent(value)) {
        report('event-object', `not an object with a type: ${describeValue(value)}`, index)
        return
      }
      hasEnded = endedAfter(hasEnded, value.type)
      const { event: sent, paths } = withoutNulls(value)
      if (paths.length > 0) report('null-field', `${value.type} is null at ${paths.join(', ')}`, index)
      // The client's operators are typed for checked events but take whatever a transport delivers.
      const verdict = client.check(sent as BaseEvent)
      for (const { rule, message } of verdict.findings) report(rule, message, index)
      for (const event of verdict.events) judge(event, sent, index)
    },
    end(): void {
      if (!complete) return
      const problem = input && lastRunProblem(facts, input)
      if (problem !== undefined) report('run-id', problem, facts.started?.index)
      if (!hasEnded) report('terminal-missing', 'the stream ends without RUN_FINISHED or RUN_ERROR')
    },
  }
}

function isEvent(value: unknown): value is Record<string, unknown> & { type: string } {
  return isRecord(value) && typeof value.type === 'string' && value.type !== ''
}

/** Goes by the type alone: a malformed RUN_FINISHED is wrong, but it is there. */
function endedAfter(hasEnded: boolean, type: string): boolean {
  if (type === 'RUN_STARTED') return false
  return hasEnded || type === 'RUN_FINISHED' || type === 'RUN_ERROR'
}

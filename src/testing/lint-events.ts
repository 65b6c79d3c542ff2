import type { BaseEvent } from '@ag-ui/core'
import { createClientCheck } from './client-check.js'
import { describeValue } from './describe.js'
import { isRecord } from '../core/is-record.js'
import type { LintRule, Violation } from './lint-rules.js'
import { createJudge } from './rules/judge.js'
import { withoutNulls } from './rules/null-fields.js'
import { checkedInput } from './checked-input.js'

/** What is known about a stream besides its events. */
export interface LintOptions {
  /**
   * The RunAgentInput the stream answers. Without it, nothing is compared with the request, and the client is taken to
   * start with no messages and an empty state.
   */
  readonly input?: unknown
  /** Whether the stream has been read to its end. When false, what is still to come is not missed. */
  readonly complete?: boolean
}

/** After so many violations, or events a client rejects, a producer is understood. */
const MAX_FAULTS = 100

/**
 * Everything a producer did wrong in a stream of AG-UI 1.0 events, as found; at most 100 violations. The events may
 * be any values. Throws INVALID_INPUT when `input` is not a valid RunAgentInput.
 *
 * @example
 * const violations = lintEvents(events, { input })
 * for (const { rule, message, index } of violations) console.log(`${index} [${rule}] ${message}`)
 */
export function lintEvents(events: Iterable<unknown>, options: LintOptions = {}): Violation[] {
  const linter = createLinter(options.input)
  let index = 0
  for (const event of events) {
    linter.take(event, index++)
    if (linter.isExhausted) return linter.violations.slice(0, MAX_FAULTS)
  }
  if (options.complete ?? true) linter.end()
  return linter.violations
}

function createLinter(given: unknown) {
  const input = given === undefined ? undefined : checkedInput(given)
  const checkAsClient = createClientCheck()
  const judge = createJudge(input)
  const violations: Violation[] = []
  let hasEnded = false
  let rejected = 0

  const report = (rule: LintRule, message: string, index?: number): void => {
    violations.push({ rule, message, index })
  }
  return {
    violations,
    get isExhausted() {
      return violations.length >= MAX_FAULTS || rejected >= MAX_FAULTS
    },
    take(value: unknown, index: number): void {
      if (!isEvent(value)) {
        report('event-object', `not an object with a type: ${describeValue(value)}`, index)
        return
      }
      hasEnded = endedAfter(hasEnded, value.type)
      const { event: sent, paths } = withoutNulls(value)
      if (paths.length > 0) report('null-field', `${value.type} is null at ${paths.join(', ')}`, index)
      // The client's operators are typed for checked events but take whatever a transport delivers.
      const { events, findings, isRejected } = checkAsClient(sent as BaseEvent)
      if (isRejected) rejected++
      const judged = events.flatMap((event) => judge.judge(event, sent, index))
      for (const { rule, message } of [...findings, ...judged]) report(rule, message, index)
    },
    end(): void {
      violations.push(...judge.end())
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

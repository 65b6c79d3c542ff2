import { omitOptionalNulls, type BaseEvent, type RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import { speaksNewest, withoutValueTypes } from '../protocol/index.js'
import { createClientCheck } from './client-check.js'
import { describeBriefly, describeError } from './describe.js'
import { createRuleChecker } from './rules/all-rules.js'
import type { LintRule, Violation } from './rules/rule-names.js'
import { withoutNulls } from './rules/payload.js'

export interface LintOptions {
  /**
   * The RunAgentInput the stream answers. Without it, the linter compares nothing with the request, and assumes that
   * the client starts with no messages and an empty state.
   */
  readonly input?: unknown
  /** Names of client tools that the server has too, and therefore executes itself. */
  readonly serverTools?: readonly string[]
  /** Whether the stream was read to its end. Default true. When false, a missing end is no violation. */
  readonly complete?: boolean
}

/** The linter stops after this many violations or rejected events. */
const maxFaults = 100

/**
 * Finds everything a producer did wrong in a stream of AG-UI 1.0 events; at most 100 violations. The events may be any
 * values. Throws INVALID_INPUT when `input` is not a valid RunAgentInput.
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
    if (linter.isExhausted) return linter.violations.slice(0, maxFaults)
  }
  if (options.complete ?? true) linter.end()
  return linter.violations
}

/**
 * Throws INVALID_EVENT when the linter finds a violation, for tests of any framework. The message has one line for each,
 * with the event at fault.
 *
 * @example
 * assertValidStream(await collect(agent.run(input)), { input })
 */
export function assertValidStream(events: Iterable<unknown>, options: LintOptions = {}): void {
  const all = [...events]
  const violations = lintEvents(all, options)
  if (violations.length === 0) return
  const lines = violations.map((violation) => violationLine(violation, all))
  const message = `The stream breaks AG-UI 1.0:\n${lines.join('\n')}`
  throw new MillraceError('INVALID_EVENT', message, { details: { violations } })
}

function violationLine({ rule, message, index }: Violation, events: readonly unknown[]): string {
  if (index === undefined) return `  [${rule}] ${message}`
  return `  [${rule}] ${message} (event ${index}: ${describeBriefly(events[index])})`
}

function createLinter({ input: given, serverTools = [] }: LintOptions) {
  const checked = given === undefined ? undefined : checkLintInput(given)
  const input = checked && {
    ...checked,
    tools: checked.tools.filter(({ name }) => !serverTools.includes(name)),
  }
  const readsNewest = input === undefined || speaksNewest(input)
  const checkAsClient = createClientCheck()
  const rules = createRuleChecker(input)
  const violations: Violation[] = []
  let hasEnded = false
  let rejected = 0

  const report = (rule: LintRule, message: string, index?: number): void => {
    violations.push({ rule, message, index })
  }
  return {
    violations,
    get isExhausted() {
      return violations.length >= maxFaults || rejected >= maxFaults
    },
    take(value: unknown, index: number): void {
      if (!isEventObject(value)) {
        report('event-object', `not an object with a type: ${describeBriefly(value)}`, index)
        return
      }
      hasEnded = hasEndedAfter(hasEnded, value.type)
      const { event: sent, paths } = withoutNulls(value)
      if (paths.length > 0) report('null-field', `${value.type} is null at ${paths.join(', ')}`, index)
      // The client's operators are typed for checked events but take whatever a transport delivers.
      const { events, findings, isRejected } = checkAsClient(
        (readsNewest ? asVersion10(sent) : sent) as BaseEvent,
      )
      if (isRejected) rejected++
      const broken = events.flatMap((event) => rules.check(event, sent, index))
      for (const { rule, message } of [...findings, ...broken]) report(rule, message, index)
    },
    end(): void {
      violations.push(...rules.end())
      if (!hasEnded) report('terminal-missing', 'the stream ends without RUN_FINISHED or RUN_ERROR')
    },
  }
}

/** An event of AG-UI 1.1 without what 1.1 adds: the checks of `@ag-ui/client` 1.0 would warn about it. */
function asVersion10(event: Record<string, unknown>): Record<string, unknown> {
  const { encryptedValueType: _, ...rest } = event
  if (event.type === 'RUN_STARTED' && event.protocolVersion === '1.1')
    return { ...rest, protocolVersion: '1.0' }
  if (event.type !== 'MESSAGES_SNAPSHOT' || !Array.isArray(event.messages)) return rest
  const messages = event.messages as readonly unknown[]
  return messages.every(isRecord) ? withoutValueTypes({ ...rest, messages } as never) : rest
}

function isEventObject(value: unknown): value is Record<string, unknown> & { type: string } {
  return isRecord(value) && typeof value.type === 'string' && value.type !== ''
}

/** Checks only the type: a malformed RUN_FINISHED is wrong, but not missing. */
function hasEndedAfter(hasEnded: boolean, type: string): boolean {
  if (type === 'RUN_STARTED') return false
  return hasEnded || type === 'RUN_FINISHED' || type === 'RUN_ERROR'
}

/** Parses the caller's own input. Throws INVALID_INPUT: the mistake is the caller's, not the producer's. */
export function checkLintInput(input: unknown): RunAgentInput {
  const parsed = RunAgentInputSchema.safeParse(omitOptionalNulls(input, 'RunAgentInput'))
  // The schema's type allows an explicit undefined where the protocol's has an absent field.
  if (parsed.success) return parsed.data as RunAgentInput
  throw new MillraceError('INVALID_INPUT', `Not a RunAgentInput: ${describeError(parsed.error)}`)
}

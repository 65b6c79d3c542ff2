import { MillraceError } from '../core/errors.js'
import { describeValue } from './describe.js'
import { lintEvents, type LintOptions } from './lint-events.js'
import type { Violation } from './lint-rules.js'

/**
 * For tests of any framework: throws INVALID_EVENT when the linter finds a violation. The message has one line for
 * each, with the event at fault.
 *
 * @example
 * assertValidStream(await collect(agent.run(input)), { input })
 */
export function assertValidStream(events: Iterable<unknown>, options: LintOptions = {}): void {
  const all = [...events]
  const violations = lintEvents(all, options)
  if (violations.length === 0) return
  const lines = violations.map((violation) => toLine(violation, all))
  const message = `The stream breaks AG-UI 1.0:\n${lines.join('\n')}`
  throw new MillraceError('INVALID_EVENT', message, { details: { violations } })
}

function toLine({ rule, message, index }: Violation, events: readonly unknown[]): string {
  if (index === undefined) return `  [${rule}] ${message}`
  return `  [${rule}] ${message} (event ${index}: ${describeValue(events[index])})`
}

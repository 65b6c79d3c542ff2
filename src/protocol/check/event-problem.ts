import { EventSchema } from '@ag-ui/core/schemas'
import type { AgUiEvent } from '../events.js'
import { checkValue } from './check-value.js'
import { toShape, type Shape } from './schema-shape.js'

/** The shape of each event type. */
export const eventShapes: ReadonlyMap<unknown, Shape> = (() => {
  const events = toShape(EventSchema)
  if (events.kind !== 'tagged') throw new TypeError('the event schema is not a union by type')
  return events.arms
})()

/** What is malformed about an event, if anything: clients would break off over it. */
export function eventProblem(event: AgUiEvent): string | undefined {
  const shape = eventShapes.get(event.type)
  if (!shape) return `'${event.type}' is not an AG-UI 1.0 event`
  const [issue] = checkValue(event, shape).issues
  return issue && `${event.type}.${issue.field}: ${issue.message}`
}

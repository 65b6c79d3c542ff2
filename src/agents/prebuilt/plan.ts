import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { z } from 'zod'
import type { JsonSchema } from '../../models/index.js'

/** One thing to do. */
export interface PlanStep {
  readonly text: string
  readonly status: 'pending' | 'running' | 'done'
  /** What came of it. */
  readonly result?: string
}

/** A plan as it stands in the shared state, for clients to draw. */
export interface Plan {
  readonly steps: readonly PlanStep[]
}

/** What a planner gives. */
interface Planned {
  readonly steps: readonly string[]
}

/** What a replanner gives: the answer, or all that is still to be done. */
type Decision =
  | { readonly type: 'respond'; readonly response: string }
  | { readonly type: 'plan'; readonly steps: readonly string[] }

const text = z.string().trim().min(1)
const steps: JsonSchema = { type: 'array', items: { type: 'string' } }

export const plannedSchema: StandardSchemaV1<unknown, Planned> = shownAs(z.object({ steps: z.array(text) }), {
  steps: { ...steps, description: 'What is to be done, in order. None when there is nothing to do.' },
})

export const decisionSchema: StandardSchemaV1<unknown, Decision> = shownAs(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('respond'), response: text }),
    z.object({ type: z.literal('plan'), steps: z.array(text).min(1) }),
  ]),
  {
    type: { type: 'string', enum: ['respond', 'plan'], description: 'Whether to answer or to go on.' },
    response: { type: 'string', description: 'To respond: the answer for the user. Else empty.' },
    steps: { ...steps, description: 'To plan: all that is still to be done, in order. Else empty.' },
  },
)

/**
 * A schema that models are shown in another form: one object that has all its members. Providers that hold models to a
 * schema want neither alternatives nor optional members.
 */
function shownAs<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  properties: Readonly<Record<string, JsonSchema>>,
): StandardSchemaV1<unknown, Output> & StandardJSONSchemaV1 {
  const shown = (): Record<string, unknown> => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
  return { '~standard': { ...schema['~standard'], jsonSchema: { input: shown, output: shown } } }
}

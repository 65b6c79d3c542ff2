import type { RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'

import { checkValue } from '../check/check-value.js'
import { isRecord } from '../../core/is-record.js'
import { kindOf, type FieldNote } from '../check/field-note.js'
import { invalidInput } from './invalid-input.js'
import { upgradeMessages } from './legacy-messages.js'
import { checkProtocolVersion } from './protocol-version.js'
import { toShape } from '../check/schema-shape.js'

/** A run input that has been checked: `state` is at least `{}`, and every list is there. */
export type RunInput = RunAgentInput & Required<Pick<RunAgentInput, 'state' | 'resume'>>

/** What a request tells about the client that sent it. */
export interface Peer {
  readonly protocolVersion?: string
  /** The client declared no version, so it predates 1.0 and cannot read all of it. */
  readonly legacy: boolean
}

/** A run request that may be served. */
export interface ParsedRunInput {
  readonly input: RunInput
  readonly peer: Peer
  /** What was left out or read differently, by field. At most 100; the last one tells of those beyond. */
  readonly warnings: readonly FieldNote[]
}

const maxWarnings = 100

const inputShape = toShape(RunAgentInputSchema)

/**
 * Checks the body of a run request. What the protocol does not know is dropped with a warning, what older clients
 * send is read as 1.0, and a malformed field is refused. The body is never mutated; what needs no
 * change is shared with it.
 *
 * Throws `INVALID_INPUT`, naming the first malformed field and listing up to 20 in `details.issues`, or
 * `UNSUPPORTED_PROTOCOL` when the client speaks another major version.
 */
export function parseRunInput(body: unknown): ParsedRunInput {
  if (!isRecord(body)) {
    throw invalidInput({ field: '(body)', message: `expected object, got ${kindOf(body)}` })
  }
  const { protocolVersion } = body
  if (typeof protocolVersion === 'string') checkProtocolVersion(protocolVersion)

  const legacy = upgradeMessages(body.messages)
  const checked = checkValue({ ...body, messages: legacy.messages }, inputShape)
  const [issue, ...others] = checked.issues
  if (issue) throw invalidInput(issue, others)
  // The walk has just compared every member with the schema this type is generated from.
  const input = checked.value as RunAgentInput
  return {
    input: { ...input, state: input.state ?? {}, ...lists(input) },
    peer: typeof protocolVersion === 'string' ? { protocolVersion, legacy: false } : { legacy: true },
    warnings: capped([...legacy.warnings, ...checked.warnings]),
  }
}

function lists({ tools = [], context = [], resume = [] }: Partial<RunAgentInput>) {
  return { tools, context, resume }
}

function capped(warnings: readonly FieldNote[]): readonly FieldNote[] {
  if (warnings.length <= maxWarnings) return warnings
  const left = warnings.length - maxWarnings + 1
  return [
    ...warnings.slice(0, maxWarnings - 1),
    { field: '(body)', message: `${left} more warnings left out` },
  ]
}

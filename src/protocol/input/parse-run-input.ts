import { PROTOCOL_VERSION, type RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import { checkValue, kindOf, quote } from '../check/check-value.js'
import { toShape } from '../check/schema-shape.js'
import type { FieldNote, ParsedRunInput } from '../contract.js'
import { upgradeMessages } from './legacy-messages.js'

const maxWarnings = 100
const maxIssues = 20
const versionGrammar = /^(\d+)\.\d+$/
const inputShape = toShape(RunAgentInputSchema)

/**
 * Checks the body of a run request. Drops what the protocol does not know with a warning, reads what older clients send
 * as 1.0, and refuses malformed fields. Never mutates the body; shares with it what needs no change.
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
  // checkValue has just compared every member with the schema this type is generated from.
  const input = checked.value as RunAgentInput
  return {
    input: { ...input, state: input.state ?? {}, ...withLists(input) },
    peer: typeof protocolVersion === 'string' ? { protocolVersion, legacy: false } : { legacy: true },
    warnings: limitWarnings([...legacy.warnings, ...checked.warnings]),
  }
}

function withLists({ tools = [], context = [], resume = [] }: Partial<RunAgentInput>) {
  return { tools, context, resume }
}

function limitWarnings(warnings: readonly FieldNote[]): readonly FieldNote[] {
  if (warnings.length <= maxWarnings) return warnings
  const left = warnings.length - maxWarnings + 1
  return [
    ...warnings.slice(0, maxWarnings - 1),
    { field: '(body)', message: `${left} more warnings left out` },
  ]
}

/**
 * Checks the version a client declares. Every minor version of our major is served: a newer one only adds what is
 * dropped with a warning. Throws `UNSUPPORTED_PROTOCOL` for another major and `INVALID_INPUT` for what is no version.
 */
function checkProtocolVersion(declared: string): void {
  const major = versionGrammar.exec(declared)?.[1]
  if (major === undefined) {
    const message = `expected a version such as "${PROTOCOL_VERSION}", got ${quote(declared)}`
    throw invalidInput({ field: 'protocolVersion', message })
  }
  if (Number(major) !== Number.parseInt(PROTOCOL_VERSION, 10)) {
    const message = `The client speaks protocol ${quote(declared)}; this server speaks ${PROTOCOL_VERSION}.`
    throw new MillraceError('UNSUPPORTED_PROTOCOL', message, { details: { field: 'protocolVersion' } })
  }
}

/** The error for malformed fields: the message names the first, `details.issues` lists up to 20. */
function invalidInput(first: FieldNote, others: readonly FieldNote[] = []): MillraceError {
  const details = { field: first.field, issues: [first, ...others.slice(0, maxIssues - 1)] }
  return new MillraceError('INVALID_INPUT', `${first.field}: ${first.message}`, { details })
}

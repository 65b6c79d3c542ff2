import { PROTOCOL_VERSION, type Message, type RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import { Dropped, checkValue, formatPath, jsonKind, quoteShort } from './check/check-value.js'
import { toShape } from './check/schema-shape.js'
import type { FieldNote, ParsedRunInput, Peer } from './contract.js'
import { uniqueMessages } from './unique-messages.js'

const maxWarnings = 100
const maxIssues = 20
const versionGrammar = /^\d+\.\d+$/
const inputShape = toShape(RunAgentInputSchema)

/**
 * Checks the body of a run request. Drops unknown members with a warning, reads the forms of older clients
 * as 1.0, and refuses malformed fields and two messages of one id. Never mutates the body; shares with it what needs no change.
 *
 * Throws `INVALID_INPUT`, naming the first malformed field and listing up to 20 in `details.issues`, or
 * `UNSUPPORTED_PROTOCOL` when the client speaks another major version.
 */
export function parseRunInput(body: unknown): ParsedRunInput {
  if (!isRecord(body)) {
    throw invalidInput({ field: '(body)', message: `expected object, got ${jsonKind(body)}` })
  }
  const { peer, warnings } = parsePeer(body.protocolVersion)
  const legacy = upgradeMessages(body.messages)
  const checked = checkValue({ ...body, messages: legacy.messages }, inputShape)
  const [issue, ...others] = checked.issues
  if (issue) throw invalidInput(issue, others)
  // checkValue has just compared every member with the schema this type is generated from.
  const input = checked.value as RunAgentInput
  const unique = uniqueMessages(input.messages)
  const [clash, ...clashes] = unique.issues
  if (clash) throw invalidInput(clash, clashes)
  return {
    input: { ...input, messages: unique.messages, state: input.state ?? {}, ...withLists(input) },
    peer,
    warnings: limitWarnings([...warnings, ...legacy.warnings, ...checked.warnings, ...unique.warnings]),
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
 * Reads the version that a client declares: it decides what the client gets. None means a client before 1.0. Every
 * minor version of our major is served, since a newer one only adds what is dropped with a warning; so is a version that
 * cannot be read, with a warning of its own. Throws `UNSUPPORTED_PROTOCOL` for another major.
 */
export function parsePeer(declared: unknown): Pick<ParsedRunInput, 'peer' | 'warnings'> {
  if (declared === undefined || declared === null) return { peer: { legacy: true }, warnings: [] }
  const field = 'protocolVersion'
  if (typeof declared !== 'string')
    throw invalidInput({ field, message: `expected string, got ${jsonKind(declared)}` })
  const major = /^\d+(?=\.|$)/.exec(declared)?.[0]
  if (major !== undefined && Number(major) !== Number.parseInt(PROTOCOL_VERSION, 10)) {
    const message = `The client speaks protocol ${quoteShort(declared)}; this server speaks ${PROTOCOL_VERSION}.`
    throw new MillraceError('UNSUPPORTED_PROTOCOL', message, { details: { field } })
  }
  const peer: Peer = { protocolVersion: declared, legacy: false }
  if (versionGrammar.test(declared)) return { peer, warnings: [] }
  const message = `expected a version such as "${PROTOCOL_VERSION}", got ${quoteShort(declared)}; served as ${PROTOCOL_VERSION}`
  return { peer, warnings: [{ field, message }] }
}

/** The error for malformed fields: the message names the first, `details.issues` lists up to 20. */
function invalidInput(first: FieldNote, others: readonly FieldNote[] = []): MillraceError {
  const details = { field: first.field, issues: [first, ...others.slice(0, maxIssues - 1)] }
  return new MillraceError('INVALID_INPUT', `${first.field}: ${first.message}`, { details })
}

/** Messages of a request, ready for the check against the 1.0 schema. */
interface LegacyMessages {
  /** The messages in 1.0 shapes, with `Dropped` in place of those left out. */
  readonly messages: unknown
  readonly warnings: readonly FieldNote[]
}

/**
 * Reads what clients before 1.0 send in `messages`: `binary` content parts become media parts. Activity messages,
 * which no version of the protocol allows in a run input, are marked as dropped. Positions stay the same, so that
 * later checks name the fields of the original request. Never mutates its argument.
 */
function upgradeMessages(messages: unknown): LegacyMessages {
  if (!Array.isArray(messages) || !messages.some(mayBeLegacy)) return { messages, warnings: [] }
  const warnings: FieldNote[] = []
  const upgraded = messages.map((message: unknown, index) => {
    if (!isRecord(message)) return message
    if (message.role === 'activity') return new Dropped('activity messages do not belong in a run input')
    const content = message.content
    if (!Array.isArray(content)) return message
    const warn = (part: number, kind: string): void => {
      const field = formatPath(['messages', index, 'content', part])
      warnings.push({ field, message: `legacy binary part, read as ${kind}` })
    }
    return { ...message, content: upgradeContent(content, warn) }
  })
  return { messages: upgraded, warnings }
}

/** Whether a message may need a change. Most histories are plain text and are not copied. */
function mayBeLegacy(message: unknown): boolean {
  return isRecord(message) && (message.role === 'activity' || Array.isArray(message.content))
}

/** Messages whose `binary` parts, of clients before 1.0, are media parts. Reports those that it leaves out. */
export function upgradeBinaryParts(
  messages: readonly Message[],
  report: (problem: string) => void,
): readonly Message[] {
  const hasBinary = ({ content }: Message): boolean =>
    Array.isArray(content) && (content as readonly unknown[]).some(isBinaryPart)
  if (!messages.some(hasBinary)) return messages
  return messages.map((message, index) => {
    if (!hasBinary(message)) return message
    const content = upgradeContent(message.content as readonly unknown[], () => undefined)
    for (const [part, value] of content.entries())
      if (value instanceof Dropped)
        report(`${formatPath(['messages', index, 'content', part])}: ${value.reason}; it was left out`)
    return { ...message, content: content.filter((part) => !(part instanceof Dropped)) } as Message
  })
}

function upgradeContent(
  content: readonly unknown[],
  warn: (part: number, kind: string) => void,
): readonly unknown[] {
  if (!content.some(isBinaryPart)) return content
  const modern = new Set(content.flatMap(mediaKeys))
  return content.map((part, index) => {
    if (!isBinaryPart(part)) return part
    const media = toMediaPart(part)
    if (!media) return new Dropped('legacy binary part without a mimeType and data or url')
    // Clients of the transition send an attachment in both shapes.
    if (modern.has(mediaKey(media, media.metadata?.filename))) {
      return new Dropped('legacy binary part that repeats another part')
    }
    warn(index, media.type)
    return media
  })
}

interface MediaPart {
  readonly type: string
  readonly source: { readonly type: string; readonly value: string; readonly mimeType: string }
  readonly metadata?: { readonly filename: string }
}

function isBinaryPart(part: unknown): part is Record<string, unknown> {
  return isRecord(part) && part.type === 'binary'
}

function toMediaPart({ mimeType, data, url, filename }: Record<string, unknown>): MediaPart | undefined {
  if (typeof mimeType !== 'string') return undefined
  const source = isNonEmptyString(data)
    ? { type: 'data', value: data }
    : isNonEmptyString(url) && { type: 'url', value: url }
  if (!source) return undefined
  return {
    type: mediaType(mimeType),
    source: { ...source, mimeType },
    ...(isNonEmptyString(filename) && { metadata: { filename } }),
  }
}

function mediaType(mimeType: string): string {
  const [family = ''] = mimeType.toLowerCase().split('/')
  return ['image', 'audio', 'video'].includes(family) ? family : 'document'
}

/** Keys of a modern part, with and without its file name: a set of these finds repeats in one step each. */
function mediaKeys(part: unknown): string[] {
  if (!isRecord(part) || !isRecord(part.source)) return []
  const { type } = part
  const { type: kind, value, mimeType } = part.source
  if (
    !isNonEmptyString(type) ||
    !isNonEmptyString(kind) ||
    !isNonEmptyString(value) ||
    !isNonEmptyString(mimeType)
  )
    return []
  const media = { type, source: { type: kind, value, mimeType } }
  const filename = isRecord(part.metadata) ? part.metadata.filename : undefined
  return isNonEmptyString(filename) ? [mediaKey(media), mediaKey(media, filename)] : [mediaKey(media)]
}

function mediaKey({ type, source }: MediaPart, filename?: string): string {
  return JSON.stringify([type, source.type, source.mimeType, source.value, filename])
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

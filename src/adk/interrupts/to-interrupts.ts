import type { Interrupt } from '@ag-ui/core'
import type { Event, UserInputKind, UserInputRequest } from '@google/adk'
import type { InterruptFrame } from '../../agents/index.js'
import { stableHash } from '../../core/ids.js'
import { isRecord } from '../../core/json.js'
import type { JsonSchema } from '../../models/index.js'
import type { FunctionCall } from '../adk-types.js'
import { publicCredentialRequest, type CredentialRequest } from './redact-credentials.js'
import { adkField } from './request-calls.js'

/** A request of ADK to a person, found in the events of a run. */
export interface AdkRequest {
  readonly request: UserInputRequest
  /** The event with the request. */
  readonly event: Event
  /** The span of the agent that makes the request. Undefined for the run's own. */
  readonly subagentRunId: string | undefined
}

/** An interrupt with what ADK needs to take its answer. JSON: it is saved while the run waits. */
export interface AdkInterrupt {
  /** As clients see it. */
  readonly interrupt: Interrupt
  readonly kind: UserInputKind
  /** The function call that the answer responds to. */
  readonly functionCallId: string
  readonly functionCallName: string
  /** The agent or node that makes the request. */
  readonly author: string
}

/** The frame of a run that is interrupted or waits for client tools. JSON, saved with the thread. */
export interface AdkFrame extends InterruptFrame {
  readonly interrupts: readonly AdkInterrupt[]
  /** Calls left to the client. */
  readonly pendingCallIds: readonly string[]
  /** The events of the run, for a session that has lost them: one in memory, after a restart. */
  readonly events: readonly Event[]
  /** Completed rounds of each loop agent. */
  readonly iterations: Readonly<Record<string, number>>
}

/** Turns ADK's requests into interrupts. Their ids belong to this run: an answer to an older one fits none. */
export function toAdkInterrupts(requests: readonly AdkRequest[], runId: string): readonly AdkInterrupt[] {
  return requests.map((found) => {
    const { kind, interruptId, functionCallName, author = '' } = found.request
    const interrupt = {
      id: `int-${stableHash(`${runId}\n${interruptId}`)}`,
      ...(found.subagentRunId === undefined ? {} : { subagentRunId: found.subagentRunId }),
      ...describeRequest(found),
    }
    return { interrupt, kind, functionCallId: interruptId, functionCallName, author }
  })
}

function describeRequest({ request, event }: AdkRequest): Omit<Interrupt, 'id'> {
  const parts = event.content?.parts ?? []
  const call = parts.find(({ functionCall }) => functionCall?.id === request.interruptId)?.functionCall
  switch (request.kind) {
    case 'confirmation':
      return describeConfirmation(request, call)
    case 'input':
      return describeInput(request)
    case 'credential':
      return describeCredential(request, call)
  }
}

function describeConfirmation(
  { message, payload, author, ...request }: UserInputRequest,
  call: FunctionCall | undefined,
): Omit<Interrupt, 'id'> {
  const original = adkField(call?.args, 'originalFunctionCall')
  const toolName = request.toolName ?? adkField(original, 'name')
  // ADK's default message is for programmers.
  const isDefault = !message || message.startsWith('Please approve or reject the tool call ')
  const hint = isDefault ? undefined : message
  const metadata = jsonMembers({
    agent: author,
    toolName,
    arguments: adkField(original, 'args'),
    hint,
    payload,
  })
  const question = `May the tool "${String(toolName)}" be called${withArguments(metadata.arguments)}?`
  return {
    reason: 'confirmation',
    message: hint === undefined ? question : `${hint}\n${question}`,
    ...toolCallIdField(adkField(original, 'id')),
    responseSchema: confirmationSchema(payload !== undefined),
    metadata,
  }
}

const maxShown = 500

/**
 * The arguments of a call in words: `with restaurant "Maaemo", people 2`. Texts keep their quotes, so that none can pass for
 * another argument. Long ones are cut: the metadata has them all.
 */
function withArguments(args: unknown): string {
  if (!isRecord(args) || Object.keys(args).length === 0) return ''
  const text = Object.entries(args)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ')
  const isLong = text.length > maxShown
  return ` with ${isLong ? `${text.slice(0, maxShown).replace(/\p{Surrogate}$/u, '')}…` : text}`
}

/** Shows clients what to send, and takes anything: all but a clear yes is a no. */
function confirmationSchema(hasPayload: boolean): JsonSchema {
  const approved = { description: 'true: yes; anything else: no', anyOf: [{ type: 'boolean' }, {}] }
  return { properties: { approved, ...(hasPayload ? { payload: {} } : {}) } }
}

function describeInput({
  message,
  responseSchema,
  payload,
  author,
}: UserInputRequest): Omit<Interrupt, 'id'> {
  const schema = normaliseSchema(responseSchema)
  return {
    reason: 'input_required',
    ...(message === undefined ? {} : { message }),
    ...(isRecord(schema) ? { responseSchema: jsonMembers(schema) } : {}),
    metadata: jsonMembers({ agent: author, payload }),
  }
}

/** These keywords hold data, not schemas. */
const dataKeywords = new Set(['default', 'const', 'enum', 'example', 'examples'])

const schemaTypes = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** Models and ADK write types in capitals. Unknown types are left out: they allow anything. */
function normaliseSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normaliseSchema)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    if (dataKeywords.has(key)) return [[key, member]]
    if (key !== 'type' || isRecord(member)) return [[key, normaliseSchema(member)]]
    const names = (Array.isArray(member) ? member : [member]).map((name) => String(name).toLowerCase())
    if (!names.every((name) => schemaTypes.has(name))) return []
    return [[key, Array.isArray(member) ? names : names[0]]]
  })
  return Object.fromEntries(entries)
}

const credentialMessages: Readonly<Record<string, string>> = {
  apiKey: 'An API key is needed.',
  oauth2: 'You have to sign in.',
  openIdConnect: 'You have to sign in.',
}

function describeCredential(
  request: UserInputRequest,
  call: FunctionCall | undefined,
): Omit<Interrupt, 'id'> {
  const credential = publicCredentialRequest(request.authConfig)
  const callId = adkField(call?.args, 'functionCallId')
  return {
    reason: 'adk:credential',
    message: request.message ?? credentialMessages[credential.type] ?? 'Credentials are needed.',
    // A workflow node makes its request without a tool call: it repeats its own id here.
    ...(callId === request.interruptId ? {} : toolCallIdField(callId)),
    responseSchema: credentialSchema(credential),
    metadata: jsonMembers({ agent: request.author, credential }),
  }
}

function credentialSchema({ type, scheme }: CredentialRequest): JsonSchema {
  switch (type) {
    case 'apiKey':
      return textSchema(['apiKey'])
    case 'oauth2':
    case 'openIdConnect': {
      const { properties } = textSchema(['authResponseUri', 'authCode'])
      const anyOf = [{ required: ['authResponseUri'] }, { required: ['authCode'] }]
      return { type: 'object', properties, anyOf }
    }
    case 'http':
      return textSchema(scheme?.toLowerCase() === 'basic' ? ['username', 'password'] : ['token'])
    default:
      return { type: 'object' }
  }
}

function textSchema(names: readonly string[]): JsonSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names }
}

function toolCallIdField(id: unknown): { toolCallId?: string } {
  return typeof id === 'string' ? { toolCallId: id } : {}
}

/** The members that JSON can carry: tools may put anything into a payload. */
function jsonMembers(value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([key, member]) => {
    try {
      const text = JSON.stringify(member) as string | undefined
      return text === undefined ? [] : [[key, JSON.parse(text) as unknown]]
    } catch {
      return []
    }
  })
  return Object.fromEntries(entries) as Record<string, unknown>
}

import type { Interrupt } from '@ag-ui/core'
import type { UserInputKind, UserInputRequest } from '@google/adk'
import { stableHash } from '../../core/hash.js'
import { isRecord } from '../../core/is-record.js'
import type { FunctionCall } from '../adk-types.js'
import type { AskedRequest } from '../translate/translator.js'
import { credentialRequest, field } from './redact.js'
import { confirmationSchema, credentialSchema, inputSchema } from './response-schema.js'

/** A question of ADK to a person, and what its answer needs. JSON: it is saved while the run waits. */
export interface Question {
  /** As clients see it. */
  readonly interrupt: Interrupt
  readonly kind: UserInputKind
  /** The call that an answer responds to. */
  readonly functionCallId: string
  readonly functionCallName: string
  /** The agent or node that asks. */
  readonly author: string
}

/** Makes interrupts of ADK's requests. Their ids belong to this run: an answer to an older one fits none. */
export function questionsOf(
  requests: readonly AskedRequest[],
  { runId }: { readonly runId: string },
): readonly Question[] {
  return requests.map((asked) => {
    const { kind, interruptId, functionCallName, author = '' } = asked.request
    const interrupt = {
      id: `int-${stableHash(`${runId}\n${interruptId}`)}`,
      ...(asked.subagentRunId === undefined ? {} : { subagentRunId: asked.subagentRunId }),
      ...described(asked),
    }
    return { interrupt, kind, functionCallId: interruptId, functionCallName, author }
  })
}

function described({ request, event }: AskedRequest): Omit<Interrupt, 'id'> {
  const parts = event.content?.parts ?? []
  const call = parts.find(({ functionCall }) => functionCall?.id === request.interruptId)?.functionCall
  switch (request.kind) {
    case 'confirmation':
      return confirmation(request, call)
    case 'input':
      return input(request)
    case 'credential':
      return credential(request, call)
  }
}

function confirmation(request: UserInputRequest, call: FunctionCall | undefined): Omit<Interrupt, 'id'> {
  const original = field(call?.args, 'originalFunctionCall')
  const toolName = request.toolName ?? field(original, 'name')
  return {
    reason: 'confirmation',
    message: hintOf(request) ?? `May the tool "${String(toolName)}" be called?`,
    ...toolCall(field(original, 'id')),
    responseSchema: confirmationSchema(request.payload !== undefined),
    metadata: json({
      agent: request.author,
      toolName,
      arguments: field(original, 'args'),
      payload: request.payload,
    }),
  }
}

/** ADK's own words are for programmers. */
function hintOf({ message }: UserInputRequest): string | undefined {
  return message?.startsWith('Please approve or reject the tool call ') ? undefined : message
}

function input({ message, responseSchema, payload, author }: UserInputRequest): Omit<Interrupt, 'id'> {
  const schema = inputSchema(responseSchema)
  return {
    reason: 'input_required',
    ...(message === undefined ? {} : { message }),
    ...(schema ? { responseSchema: json(schema) } : {}),
    metadata: json({ agent: author, payload }),
  }
}

const credentialMessages: Readonly<Record<string, string>> = {
  apiKey: 'An API key is needed.',
  oauth2: 'You have to sign in.',
  openIdConnect: 'You have to sign in.',
}

function credential(request: UserInputRequest, call: FunctionCall | undefined): Omit<Interrupt, 'id'> {
  const asked = credentialRequest(request.authConfig)
  const callId = field(call?.args, 'functionCallId')
  return {
    reason: 'adk:credential',
    message: request.message ?? credentialMessages[asked.type] ?? 'Credentials are needed.',
    // A node of a workflow asks without a call: it gives its own id again.
    ...(callId === request.interruptId ? {} : toolCall(callId)),
    responseSchema: credentialSchema(asked),
    metadata: json({ agent: request.author, credential: asked }),
  }
}

function toolCall(id: unknown): { toolCallId?: string } {
  return typeof id === 'string' ? { toolCallId: id } : {}
}

/** Only what survives as JSON: tools may put anything into a payload. */
function json(value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const text = attempt(() => JSON.stringify(member) as string | undefined)
    return text === undefined ? [] : [[key, JSON.parse(text) as unknown]]
  })
  const copy: unknown = Object.fromEntries(entries)
  return isRecord(copy) ? copy : {}
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

import type { Context, Message, ResumeEntry, Tool as ToolInfo } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { IdSource } from '../../core/ids.js'

/** A text, messages, or the fields of an AG-UI RunAgentInput. */
export type RunRequest = string | readonly Message[] | RunFields

export interface RunFields {
  readonly threadId?: string
  readonly runId?: string
  readonly parentRunId?: string | undefined
  /** The whole conversation. Optional when a run is resumed: the checkpoint has it. */
  readonly messages?: readonly Message[]
  readonly state?: unknown
  readonly tools?: readonly ToolInfo[]
  readonly context?: readonly Context[]
  readonly forwardedProps?: unknown
  readonly resume?: readonly ResumeEntry[]
}

export interface NormalInput extends Omit<RunFields, 'messages'> {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly Message[] | undefined
  readonly tools: readonly ToolInfo[]
  readonly context: readonly Context[]
  readonly resume: readonly ResumeEntry[]
}

/** Fills in what a request leaves out. `checkpoint` is the one that the run resumes, if any. */
export function normalInput(request: RunRequest, newId: IdSource, checkpoint?: unknown): NormalInput {
  const fields = toFields(request, newId)
  const { messages, parentRunId, state, forwardedProps } = fields
  if (
    messages?.some((message) => typeof message.id !== 'string' || typeof message.role !== 'string') === true
  ) {
    throw new MillraceError('INVALID_INPUT', 'messages: every message needs an id and a role.')
  }
  return {
    threadId: fields.threadId ?? threadOf(checkpoint) ?? newId('thread'),
    runId: fields.runId ?? newId('run'),
    parentRunId,
    messages,
    state,
    forwardedProps,
    tools: fields.tools ?? [],
    context: fields.context ?? [],
    resume: fields.resume ?? [],
  }
}

function threadOf(checkpoint: unknown): string | undefined {
  const threadId: unknown = Reflect.get(Object(checkpoint) as object, 'threadId')
  return typeof threadId === 'string' ? threadId : undefined
}

function toFields(request: RunRequest, newId: IdSource): RunFields {
  if (typeof request === 'string')
    return { messages: [{ id: newId('message'), role: 'user', content: request }] }
  return isList(request) ? { messages: request } : request
}

// Array.isArray does not narrow a readonly array.
function isList(request: readonly Message[] | RunFields): request is readonly Message[] {
  return Array.isArray(request)
}

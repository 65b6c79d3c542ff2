import type { Interrupt } from '@ag-ui/core'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { Answer } from '../../agents/index.js'
import { ifString, isEqual, isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import type { StoredInterrupt } from '../checkpoints/stored-interrupts.js'

/** An interrupt that clients see, and what the graph needs to resume from it. JSON: it is saved while the run waits. */
export type ResumableInterrupt =
  | (RaisedInterrupt & {
      readonly kind: 'value'
      /** The client tool call whose result answers it. */
      readonly clientCallId?: string
    })
  /** One of the actions that one interrupt of `humanInTheLoopMiddleware` asks about. */
  | (RaisedInterrupt & { readonly kind: 'action'; readonly index: number })
  /** The graph was compiled to stop here. */
  | { readonly kind: 'breakpoint'; readonly interrupt: Interrupt }

/** An interrupt that the code of a graph has raised. */
interface RaisedInterrupt {
  readonly interrupt: Interrupt
  /** LangGraph's id. Not unique, see `GraphInterruption`. */
  readonly graphId: string | undefined
  /** See `StoredInterrupt`. */
  readonly answersBefore: number
}

/**
 * Turns the interrupts of a graph into AG-UI interrupts. Their ids are `<LangGraph's id>:<answers before>`, so that an
 * answer to an older interrupt matches none. Fields of the value that AG-UI knows become fields of the interrupt.
 *
 * @param lastMessageOf the last message of the graph that raised an interrupt: a review is about its tool calls
 */
export function toResumableInterrupts(
  stored: readonly StoredInterrupt[],
  lastMessageOf: (interruptId: string | undefined) => BaseMessage | undefined = () => undefined,
): ResumableInterrupt[] {
  return stored.flatMap((entry, index): ResumableInterrupt[] => {
    const id = `${entry.id ?? `interrupt-${index}`}:${entry.answersBefore}`
    if (isReview(entry.value))
      return reviewInterrupts(entry, { id, review: entry.value, lastMessage: lastMessageOf(entry.id) })
    return [valueInterrupt(entry, id)]
  })
}

/** LangGraph's ids of the interrupts in a GraphInterrupt error. */
export function raisedInterruptIds(error: unknown): string[] {
  const { interrupts } = (error ?? {}) as { interrupts?: unknown }
  const entries: readonly unknown[] = Array.isArray(interrupts) ? interrupts : []
  return entries.flatMap((entry) => (isRecord(entry) && typeof entry.id === 'string' ? [entry.id] : []))
}

/** The reason of an interrupt that stands for a client tool call. */
export const clientToolReason = 'langgraph:client_tool'

/** Whether an interrupt stands for a client tool call: a tool result answers it, not a person. */
export function isClientToolInterrupt(entry: ResumableInterrupt): boolean {
  return entry.kind === 'value' && entry.clientCallId !== undefined
}

function valueInterrupt(entry: StoredInterrupt, id: string): ResumableInterrupt {
  const value = shownValue(entry.value)
  const fields = isRecord(value) ? value : {}
  const toolCallId = ifString(fields.toolCallId ?? fields.tool_call_id)
  const isClientCall = fields.reason === clientToolReason && toolCallId !== undefined
  const schema = fields.responseSchema ?? fields.response_schema ?? shownValue(entry.responseSchema)
  const interrupt: Interrupt = {
    id,
    reason: ifString(fields.reason) ?? 'input_required',
    ...optional('message', typeof value === 'string' ? value : ifString(fields.message ?? fields.question)),
    ...optional('toolCallId', toolCallId),
    ...optional('responseSchema', isRecord(schema) ? schema : undefined),
    ...optional('expiresAt', ifString(fields.expiresAt ?? fields.expires_at)),
    metadata: { langgraph: { value: value ?? null, ns: [...entry.ns] } },
  }
  return {
    kind: 'value',
    interrupt,
    graphId: entry.id,
    answersBefore: entry.answersBefore,
    ...(isClientCall ? { clientCallId: toolCallId } : {}),
  }
}

export interface Breakpoint {
  /** The nodes that would run next. */
  readonly next: readonly string[]
  readonly checkpointId: string
}

/** The interrupt of a graph that was compiled to stop before or after a node. It asks whether to resume. */
export function breakpointInterrupt({ next, checkpointId }: Breakpoint): ResumableInterrupt {
  const interrupt = {
    id: `breakpoint:${checkpointId}`,
    reason: 'langgraph:breakpoint',
    message: next.length === 0 ? 'Go on?' : `Go on with ${next.map((name) => `"${name}"`).join(', ')}?`,
    metadata: { langgraph: { next: [...next] } },
  }
  return { kind: 'breakpoint', interrupt }
}

/** The value of an interrupt of `humanInTheLoopMiddleware`: it asks about several tool calls at once. */
interface Review {
  readonly actionRequests: readonly unknown[]
  readonly reviewConfigs: readonly unknown[]
}

function isReview(value: unknown): value is Review {
  return isRecord(value) && Array.isArray(value.actionRequests) && Array.isArray(value.reviewConfigs)
}

interface ReviewOptions {
  readonly id: string
  readonly review: Review
  readonly lastMessage: BaseMessage | undefined
}

/** One interrupt for each action, with the id `<id>:<index>`. The graph resumes when all have an answer. */
function reviewInterrupts(
  entry: StoredInterrupt,
  { id, review, lastMessage }: ReviewOptions,
): ResumableInterrupt[] {
  const actions = review.actionRequests.map(readAction)
  const callIds = matchToolCalls(actions, lastMessage)
  // Front ends before 1.0 read the review as a whole.
  const whole = (index: number): object => (index === 0 ? { review: shownValue(review) } : {})
  return actions.map(({ name, args, description }, index) => {
    const interrupt = {
      id: `${id}:${index}`,
      reason: 'confirmation',
      message: description ?? `May the tool "${name}" be called?`,
      ...optional('toolCallId', callIds[index]),
      responseSchema: decisionSchema(allowedDecisions(review.reviewConfigs[index])),
      metadata: { langgraph: { value: { name, args }, ns: [...entry.ns], action: index, ...whole(index) } },
    }
    return { kind: 'action', interrupt, graphId: entry.id, answersBefore: entry.answersBefore, index }
  })
}

/** The decision that the middleware gets for one action. A cancelled interrupt rejects it. */
export function toDecision(answer: Answer): unknown {
  if (answer.status === 'resolved') return answer.payload
  return { type: 'reject', message: 'The user did not answer.' }
}

interface Action {
  readonly name: string
  readonly args: unknown
  readonly description: string | undefined
}

function readAction(request: unknown): Action {
  const fields = isRecord(request) ? request : {}
  return {
    name: ifString(fields.name) ?? '',
    args: shownValue(fields.args ?? fields.arguments) ?? {},
    description: ifString(fields.description),
  }
}

/** The middleware has no tool call ids. Its actions are in the order of the calls, but not every call has one. */
function matchToolCalls(
  actions: readonly Action[],
  message: BaseMessage | undefined,
): (string | undefined)[] {
  const calls = message && AIMessage.isInstance(message) ? [...(message.tool_calls ?? [])] : []
  return actions.map(({ name, args }) => {
    const named = calls.findIndex((call) => call.name === name)
    const exact = calls.findIndex((call) => call.name === name && isEqual(call.args, args))
    const found = exact === -1 ? named : exact
    return found === -1 ? undefined : calls.splice(found, 1)[0]?.id
  })
}

function allowedDecisions(config: unknown): readonly string[] {
  const allowed = isRecord(config) ? config.allowedDecisions : undefined
  const names = Array.isArray(allowed) ? allowed.filter((name) => typeof name === 'string') : []
  return names.length > 0 ? names : ['approve', 'reject']
}

function decisionSchema(allowed: readonly string[]): Record<string, unknown> {
  const text = { type: 'string' }
  const editedAction = {
    type: 'object',
    properties: { name: text, args: { type: 'object' } },
    required: ['name', 'args'],
  }
  return {
    type: 'object',
    properties: {
      type: { enum: [...allowed] },
      ...(allowed.some((name) => name !== 'approve' && name !== 'edit') ? { message: text } : {}),
      ...(allowed.includes('edit') ? { editedAction } : {}),
    },
    required: ['type'],
  }
}

/** A value as JSON, by the rule for all that leaves a run. Undefined if JSON cannot carry it. */
function shownValue(value: unknown): unknown {
  try {
    return toJson(value, 'The value of an interrupt')
  } catch {
    return undefined
  }
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>)
}

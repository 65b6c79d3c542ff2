import type { Interrupt } from '@ag-ui/core'
import type { BaseMessage } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'
import type { GraphInterruption } from '../graph-event.js'
import { actionQuestions, isReview } from './actions.js'
import { jsonValue } from './json-value.js'

/** A question of a graph to a person, and what its answer needs. JSON: it is saved while the run waits. */
export type Question =
  | {
      readonly kind: 'value'
      /** As clients see it. */
      readonly interrupt: Interrupt
      /** The id in the graph: not unique, see `GraphInterruption`. */
      readonly graphId: string | undefined
      /** The call that a result of the client answers, of a tool that the client has. */
      readonly clientCallId?: string
    }
  /** One of the actions that `humanInTheLoopMiddleware` asks about at once. */
  | {
      readonly kind: 'action'
      readonly interrupt: Interrupt
      readonly graphId: string | undefined
      readonly index: number
    }
  /** The graph was compiled to stop here. */
  | { readonly kind: 'breakpoint'; readonly interrupt: Interrupt }

export interface QuestionOptions {
  /** How many questions of the same id were answered before, by id. */
  readonly counts: ReadonlyMap<string, number>
  /** The last message of the graph: its calls are what the actions of a review are about. */
  readonly lastMessage?: BaseMessage | undefined
}

/**
 * Makes interrupts of a graph's questions. Their ids are `<id in the graph>:<answers before>`, so that an answer to an
 * older question fits none. Members of an object that AG-UI has a place for are put there.
 */
export function questionsOf(interrupts: readonly GraphInterruption[], options: QuestionOptions): Question[] {
  return interrupts.flatMap((asked, place): Question[] => {
    const count = asked.id === undefined ? 0 : (options.counts.get(asked.id) ?? 0)
    const id = `${asked.id ?? `interrupt-${place}`}:${count}`
    if (isReview(asked.value)) return actionQuestions(asked, { id, lastMessage: options.lastMessage })
    return [valueQuestion(asked, id)]
  })
}

/** Marks a question that stands for a call of a client's tool. */
export const clientToolReason = 'langgraph:client_tool'

function valueQuestion(asked: GraphInterruption, id: string): Question {
  const value = jsonValue(asked.value)
  const fields = isRecord(value) ? value : {}
  const toolCallId = text(fields.toolCallId ?? fields.tool_call_id)
  const isClientCall = fields.reason === clientToolReason && toolCallId !== undefined
  const interrupt: Interrupt = {
    id,
    reason: text(fields.reason) ?? 'input_required',
    ...optional('message', typeof value === 'string' ? value : text(fields.message ?? fields.question)),
    ...optional('toolCallId', toolCallId),
    ...optional('responseSchema', schemaOf(fields, asked)),
    ...optional('expiresAt', text(fields.expiresAt ?? fields.expires_at)),
    metadata: { langgraph: { value: value ?? null, ns: [...asked.ns] } },
  }
  return {
    kind: 'value',
    interrupt,
    graphId: asked.id,
    ...(isClientCall ? { clientCallId: toolCallId } : {}),
  }
}

function schemaOf(
  fields: Record<string, unknown>,
  asked: GraphInterruption,
): Record<string, unknown> | undefined {
  const schema = fields.responseSchema ?? fields.response_schema ?? jsonValue(asked.responseSchema)
  return isRecord(schema) ? schema : undefined
}

export interface Breakpoint {
  /** The nodes that would run next. */
  readonly next: readonly string[]
  readonly checkpointId: string
}

/** The question of a graph that was compiled to stop before or after a node: whether to go on. */
export function breakpointQuestion({ next, checkpointId }: Breakpoint): Question {
  const interrupt = {
    id: `breakpoint:${checkpointId}`,
    reason: 'langgraph:breakpoint',
    message: next.length === 0 ? 'Go on?' : `Go on with ${next.map((name) => `"${name}"`).join(', ')}?`,
    metadata: { langgraph: { next: [...next] } },
  }
  return { kind: 'breakpoint', interrupt }
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

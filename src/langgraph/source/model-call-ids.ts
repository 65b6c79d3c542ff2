import { AIMessage, AIMessageChunk, type BaseMessage, type ToolCallChunk } from '@langchain/core/messages'
import { isRecord } from '../../core/json.js'
import { repeatedCallId } from '../messages/call-ids.js'

/** A tool call of a model. */
interface ModelCall {
  readonly index: ToolCallChunk['index']
  /** The model's id. */
  readonly givenId: string
  /** The id that no other call of the thread has. */
  readonly id: string
}

/**
 * Gives tool calls ids that are unique in the thread, where the answer of a model enters the graph, as for every other
 * runtime: some models count from zero in every answer. `ToolNode` takes such a call for done if any result has its id.
 */
export class ModelCallIds {
  readonly #callId: (wanted: string) => string
  /** The first message id of each model that is streaming. */
  readonly #messageIds = new Map<string, string>()
  /** The calls of each message. A model that passes on the message of another makes the same calls. */
  readonly #calls = new Map<string, ModelCall[]>()

  /** @param callId returns the wanted id if no call of the thread has it, else another one */
  constructor(callId: (wanted: string) => string) {
    this.#callId = callId
  }

  /** The chunk with unique ids. It may be part of the graph's state, so it is not changed itself. */
  inChunk(runId: string, chunk: AIMessageChunk): AIMessageChunk {
    const messageId = this.#messageId(runId, chunk)
    const calls = this.#callsOf(messageId)
    const parts = chunk.tool_call_chunks ?? []
    const unique = parts.map((part) => {
      const { id, index } = part
      if (!id) return part
      let call = calls.find((one) => one.index === index && isCall(one, id))
      if (!call) calls.push((call = this.#newCall(id, messageId, index)))
      return call.id === id ? part : { ...part, id: call.id }
    })
    if (unique.every((part, at) => part === parts[at])) return chunk
    return Object.create(chunk, { tool_call_chunks: { value: unique, enumerable: true } }) as AIMessageChunk
  }

  /**
   * The whole message of a model, with unique ids. One that was streamed becomes like one that was not: this bridge made
   * it stream. A chunk keeps the arguments of its calls twice, and checkpointers would undo an edit of one.
   */
  inWhole(runId: string, message: BaseMessage): BaseMessage {
    if (!AIMessage.isInstance(message)) return message
    const { tool_calls = [], invalid_tool_calls = [] } = message
    const messageId = this.#messageId(runId, message)
    const known = [...this.#callsOf(messageId)]
    const calls = [...tool_calls, ...invalid_tool_calls].flatMap(({ id }): ModelCall[] =>
      id ? [takeCall(known, id) ?? this.#newCall(id, messageId)] : [],
    )
    this.#calls.set(messageId, calls)
    const isUnique = calls.every(({ id, givenId }) => id === givenId)
    return isUnique && !AIMessageChunk.isInstance(message) ? message : withCallIds(message, calls)
  }

  /** Forgets a model that has ended. */
  end(runId: string): void {
    this.#messageIds.delete(runId)
  }

  #messageId(runId: string, { id = `run-${runId}` }: BaseMessage): string {
    const known = this.#messageIds.get(runId) ?? id
    this.#messageIds.set(runId, known)
    return known
  }

  #callsOf(messageId: string): ModelCall[] {
    const calls = this.#calls.get(messageId) ?? []
    this.#calls.set(messageId, calls)
    return calls
  }

  #newCall(givenId: string, messageId: string, index?: ModelCall['index']): ModelCall {
    const isFree = this.#callId(givenId) === givenId
    return { index, givenId, id: isFree ? givenId : this.#callId(repeatedCallId(givenId, messageId)) }
  }
}

function isCall({ givenId, id }: ModelCall, wanted: unknown): boolean {
  return givenId === wanted || id === wanted
}

/** Removes the first call with the id from a list. */
function takeCall(calls: ModelCall[], givenId: unknown): ModelCall | undefined {
  const at = calls.findIndex((call) => isCall(call, givenId))
  return at === -1 ? undefined : calls.splice(at, 1)[0]
}

type AIMessageFields = Exclude<ConstructorParameters<typeof AIMessage>[0], string | undefined>

function withCallIds(message: AIMessage, calls: readonly ModelCall[]): AIMessage {
  const { content, additional_kwargs: kwargs, response_metadata, id, name, usage_metadata } = message
  const { tool_calls = [], invalid_tool_calls = [] } = message
  const rename = renaming(calls)
  return new AIMessage({
    ...{ response_metadata, id, name, usage_metadata },
    tool_calls: rename(tool_calls),
    invalid_tool_calls: rename(invalid_tool_calls),
    // Clients of providers keep the calls as they came, too.
    content: Array.isArray(content) ? renaming(calls)(content) : content,
    additional_kwargs: withRawCalls(kwargs, renaming(calls)),
  } as AIMessageFields)
}

function withRawCalls(kwargs: Readonly<Record<string, unknown>>, rename: Rename): Record<string, unknown> {
  const { tool_calls: raw, ...rest } = kwargs
  return Array.isArray(raw) ? { ...rest, tool_calls: rename<unknown>(raw) } : { ...kwargs }
}

type Rename = <T>(entries: readonly T[]) => T[]

/** Gives entries with the id of a call the unique one. Calls of one message that share an id are taken in order. */
function renaming(calls: readonly ModelCall[]): Rename {
  const rest = [...calls]
  return (entries) =>
    entries.map((entry) => {
      const call = isRecord(entry) && entry.id !== undefined ? takeCall(rest, entry.id) : undefined
      return call && isRecord(entry) && entry.id !== call.id ? { ...entry, id: call.id } : entry
    })
}

import type { Message, ToolMessage } from '@ag-ui/core'
import { type AgentEvent, isCutOff } from '../../protocol/index.js'
import type { HistoryRewriter, RunContext } from '../contract.js'
import type { ChatConfig } from './chat-agent.js'
import { openToolbox, type Toolbox } from './toolbox.js'
import type { ToolBatch } from './tool-batch.js'
import { pairedPrefix } from '../history/agent-history.js'
import { repairMessages } from '../middlewares/repair-tool-calls.js'

/** The state of a chat agent's loop. */
export interface LoopState {
  readonly config: ChatConfig
  readonly ctx: RunContext
  readonly toolbox: Toolbox
  readonly conversation: Conversation
  /** Messages that this agent has added to the conversation. */
  readonly added: Message[]
  /** How often the model has answered with tool calls. */
  iteration: number
  /** Iterations that do not count for the limit: those before the client executed its tools. */
  uncounted: number
  /** The calls of the last answer, while tools are running. */
  batch: ToolBatch | undefined
  /** The last answer without calls, while the agent ends with it. */
  answer: string | undefined
  /** Messages of answers that broke off in earlier runs. */
  readonly cutOff: readonly string[]
  /** Reports of what the model did not get, each once. */
  readonly skipped: Set<string>
}

/** The loop as it is saved when the run is interrupted or stopped. JSON. */
export interface ChatFrame {
  readonly iteration: number
  readonly uncounted: number
  readonly added: readonly Message[]
  readonly batch?: ToolBatch
  readonly answer?: string
  /** Messages of answers that broke off. The model answers again from the beginning. */
  readonly cutOff?: readonly string[]
}

/** Restores the loop from its frame, or begins a new one. */
export async function restoreLoop(
  config: ChatConfig,
  ctx: RunContext,
  frame: ChatFrame | undefined,
): Promise<LoopState> {
  const { iteration = 0, uncounted = 0, batch, answer, cutOff = [] } = frame ?? {}
  const added = [...(frame?.added ?? [])]
  const openCalls = new Set(batch?.calls.map(({ id }) => id))
  const history = ctx.history()
  const complete = cutOff.length > 0 ? history.filter(({ id }) => !cutOff.includes(id)) : history
  const conversation = createConversation(complete, frame && { added, openCalls })
  const toolbox = await openToolbox(config, ctx)
  const skipped = new Set<string>()
  return { config, ctx, toolbox, conversation, added, iteration, uncounted, batch, answer, cutOff, skipped }
}

export function createFrame(loop: LoopState): ChatFrame {
  const { iteration, uncounted, added, batch, answer } = loop
  const isModelAnswering = !batch && answer === undefined
  const cutOff = isModelAnswering ? unfinishedMessages(loop) : loop.cutOff
  return {
    iteration,
    uncounted,
    added,
    ...(batch ? { batch } : {}),
    ...(answer === undefined ? {} : { answer }),
    ...(cutOff.length > 0 ? { cutOff } : {}),
  }
}

/** The messages of the unfinished answer: all new ones, since only the model writes while it answers. */
function unfinishedMessages({ ctx, conversation }: LoopState): string[] {
  const known = new Set(Array.from(conversation.view()(), ({ id }) => id))
  return ctx
    .history()
    .filter(({ id, role }) => role !== 'user' && !known.has(id))
    .map(({ id }) => id)
}

/** Resends results that did not reach the client before the run was stopped. */
export function* resendLostResults({ added }: ChatFrame, ctx: RunContext): Generator<AgentEvent> {
  const messages = ctx.history(unchanged)
  const calls = messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
  const open = new Set(calls.map(({ id }) => id))
  for (const message of messages) if (message.role === 'tool') open.delete(message.toolCallId)
  for (const message of added) {
    if (message.role !== 'tool' || !open.has(message.toolCallId)) continue
    const { id, role: _role, ...result } = message
    yield { type: 'TOOL_CALL_RESULT', messageId: id, ...result }
  }
}

const unchanged: HistoryRewriter = (entries) => entries.map(({ message }) => message)

/**
 * The messages for the model: the history and those of this run. Repaired once when the run starts, then only
 * added to, so that an iteration costs the same in a long conversation as in a short one.
 */
export interface Conversation {
  /** The messages as they are now. Copied when they are read, so that a long conversation costs no more. */
  view(): () => readonly Message[]
  add(messages: readonly Message[]): void
  resultOf(toolCallId: string): ToolMessage | undefined
}

/** A conversation that was saved while tools were running. */
export interface SavedConversation {
  /** Messages that the agent had added, whether or not they are in the history. */
  readonly added: readonly Message[]
  /** Calls that may have no result yet. Their results go right behind the answer that made them. */
  readonly openCalls: ReadonlySet<string>
}

export function createConversation(history: readonly Message[], saved?: SavedConversation): Conversation {
  const results = new Map<string, ToolMessage>()
  const { messages, gap } = saved ? resumedMessages(history, saved) : { messages: repairedHistory(history) }
  const open = new OpenResults(saved?.openCalls ?? [])
  const add = (more: readonly Message[]): void => {
    for (const message of more) {
      if (message.role === 'tool') results.set(message.toolCallId, message)
      const offset = gap === undefined ? undefined : open.offsetOf(message)
      if (gap === undefined || offset === undefined) messages.push(message)
      else messages.splice(gap + offset, 0, message)
    }
  }
  if (saved) {
    // Results that came before are known; those of open calls go into the gap.
    const all = withAdded(history, saved.added)
    for (const message of all) if (message.role === 'tool') results.set(message.toolCallId, message)
    if (gap !== undefined) add(all.filter((message) => open.has(message)))
  }
  return {
    view() {
      const { length } = messages
      // Results in the gap move the messages behind it: copy at once.
      let copy = gap === undefined ? undefined : messages.slice()
      return () => (copy ??= messages.slice(0, length))
    },
    add,
    resultOf: (id) => results.get(id),
  }
}

/** The first messages of a history are known to be in order when its agent has read them before. */
function repairedHistory(history: readonly Message[]): Message[] {
  const paired = pairedPrefix(history)
  const rest = history.slice(paired)
  const repaired = repairMessages(rest)
  return repaired === rest ? history.slice() : [...history.slice(0, paired), ...repaired]
}

/** The messages without the results of the open calls, and where those go: right behind the answer that made the calls. */
function resumedMessages(
  history: readonly Message[],
  { added, openCalls }: SavedConversation,
): { readonly messages: Message[]; readonly gap?: number } {
  // The resumed run writes cut-off messages again.
  const all = withAdded(
    history.filter((message) => !isCutOff(message)),
    added,
  )
  const isCaller = (message: Message): boolean => hasAnyCall(message, openCalls)
  const first = all.findIndex(isCaller)
  if (first === -1) return { messages: [...repairMessages(all)] }
  const open = new OpenResults(openCalls)
  const rest = all.filter((message, position) => position >= first && !open.has(message))
  const answer = rest.slice(0, rest.findLastIndex(isCaller) + 1)
  const before = [...repairMessages(all.slice(0, first)), ...answer]
  return { messages: [...before, ...repairMessages(rest.slice(answer.length))], gap: before.length }
}

/** The results of open calls, in the order of the calls, whenever they come. */
class OpenResults {
  readonly #calls: readonly string[]
  readonly #present = new Set<string>()

  constructor(calls: Iterable<string>) {
    this.#calls = [...calls]
  }

  has(message: Message): message is ToolMessage {
    return message.role === 'tool' && this.#calls.includes(message.toolCallId)
  }

  /** The position of a result among those that are there. Undefined for any other message. */
  offsetOf(message: Message): number | undefined {
    if (!this.has(message)) return undefined
    const earlier = this.#calls.slice(0, this.#calls.indexOf(message.toolCallId))
    this.#present.add(message.toolCallId)
    return earlier.filter((id) => this.#present.has(id)).length
  }
}

function withAdded(history: readonly Message[], added: readonly Message[]): readonly Message[] {
  const ids = new Set(history.map(({ id }) => id))
  return [...history, ...added.filter(({ id }) => !ids.has(id))]
}

function hasAnyCall(message: Message, calls: ReadonlySet<string> | undefined): boolean {
  return message.role === 'assistant' && message.toolCalls?.some(({ id }) => calls?.has(id)) === true
}

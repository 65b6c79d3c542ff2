import type { ContentPart, Interrupt, JsonPatchOperation, Message, TokenUsage } from '@ag-ui/core'
import type { Clock } from '../core/clock.js'
import type { MillraceError } from '../core/errors.js'
import type { IdSource } from '../core/ids.js'
import type { AgUiEvent } from '../protocol/index.js'

export interface ClientOptions {
  /** The address of the server, with its `basePath`: `https://example.org/ai`. */
  readonly url: string
  /**
   * Headers of every request, such as `authorization`. A function is asked before each request, and once more with `isRefused`
   * when the server does not accept what it returned (401).
   */
  readonly headers?: Headers | ((why: { readonly isRefused: boolean }) => Headers | Promise<Headers>)
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch
  /** How long the server may say nothing, not even a heartbeat, before the client connects again. Default 45 s. */
  readonly timeoutMs?: number
  /** The wait before a failed request is made again: doubled each time up to `maxMs`, and shortened at random. */
  readonly retry?: { readonly firstMs?: number; readonly maxMs?: number }
  readonly clock?: Clock
  readonly newId?: IdSource
  /** From 0 to 1. Default: `Math.random`. */
  readonly random?: () => number
}

type Headers = Readonly<Record<string, string>>

/** A server, seen from outside. */
export interface Client {
  /**
   * A thread of an agent. Without an id it is a new one. Connects when somebody subscribes or sends.
   *
   * @example
   * const thread = client.thread<{ budget: number }>('concierge', 'trip')
   */
  thread<State = unknown, Tools extends ClientTools = ClientTools>(
    agent: string,
    threadId?: string,
    options?: ThreadOptions<Tools>,
  ): Thread<State, Tools>
  readonly threads: Threads
  /** The agents of the server. */
  agents(): Promise<readonly AgentInfo[]>
}

export interface AgentInfo {
  readonly name: string
  readonly description: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly examples: readonly unknown[]
}

/** The user's threads with an agent. Every method rejects with a `MillraceError`. */
export interface Threads {
  list(agent: string, page?: ThreadPage): Promise<ThreadList>
  /** Those whose title has the text in it. */
  search(agent: string, text: string, page?: ThreadPage): Promise<ThreadList>
  /** Gives it a title that no run replaces, also while one is live. */
  rename(agent: string, threadId: string, title: string): Promise<void>
  /** Puts it away: lists leave it out unless they ask for it. Also while a run is live. */
  archive(agent: string, threadId: string): Promise<void>
  unarchive(agent: string, threadId: string): Promise<void>
  delete(agent: string, threadId: string): Promise<void>
}

export interface ThreadPage {
  /** Default 50, at most 200. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
  /** Whether archived threads are in it too. Default false. */
  readonly archived?: boolean
}

export interface ThreadList {
  readonly threads: readonly ThreadInfo[]
  readonly nextCursor?: string
}

export interface ThreadInfo {
  readonly threadId: string
  readonly title: string
  readonly status: 'running' | 'interrupted' | 'waiting-for-tools' | 'idle'
  readonly messageCount: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly archived?: true
  readonly forkedFrom?: string
  readonly lastRun?: { readonly runId: string; readonly status: string }
}

export interface ThreadOptions<Tools extends ClientTools = ClientTools> {
  /** Tools that the client carries out, by name. */
  readonly tools?: Tools
  /** Called with each event once, in order, after the thread has taken it in. Must not throw. */
  readonly onEvent?: (event: AgUiEvent) => void
  /** What the agent is to know besides, asked for each run. */
  readonly context?: () => readonly { readonly description: string; readonly value: string }[]
  /** For the application's own code in the agent, asked for each run. */
  readonly forwardedProps?: () => unknown
}

/** A tool that the client carries out. Without `execute`, its calls wait for `answerTool`. */
export interface ClientTool {
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters?: unknown
  /** Returns the result: a text, or a value that becomes JSON. An error becomes the result of the call. */

  readonly execute?: (
    args: never,
    call: { readonly toolCallId: string; readonly signal: AbortSignal },
  ) => unknown
}

export type ClientTools = Readonly<Record<string, ClientTool>>

/**
 * A conversation. It opens a stream while somebody subscribes or something is to be sent, and takes it up again when it
 * breaks. Methods that send never reject: they resolve when the run is over, with what became of it. What is sent during a
 * run waits for its end.
 */
export interface Thread<State = unknown, Tools extends ClientTools = ClientTools> {
  readonly agent: string
  readonly threadId: string
  /** Calls `listener` when the snapshot has changed. Returns a function that ends it. */
  readonly subscribe: (listener: () => void) => () => void
  /** The same object until something changes; members keep their identity until they change. */
  readonly getSnapshot: () => ThreadSnapshot<State, keyof Tools & string>
  send(message: string | readonly ContentPart[]): Promise<RunResult>
  /**
   * Answers open interrupts. The run is resumed when all of them are answered: until then the answers are kept in the snapshot,
   * and this resolves at once with `interrupted`. A later answer to the same interrupt replaces the one before.
   */
  resume(answers: readonly Answer[]): Promise<RunResult>
  /** Gives the result of a pending tool call. The agent goes on when the last one is there. */
  answerTool(toolCallId: string, result: unknown): Promise<RunResult>
  /** Carries out pending calls of tools with `execute`, for a page that was loaded while they were pending. */
  runTools(): Promise<RunResult | undefined>
  /** Stops the live run on the server, and forgets what waits to be sent. Resolves when the run has stopped. */
  stop(): Promise<void>
  /** Changes the state. A thread without messages takes it with its first message. */
  patchState(patch: readonly JsonPatchOperation[]): Promise<PatchResult>
  /** Replaces a message of the user. The thread goes on from there; the old branch stays as a thread of its own. */
  edit(messageId: string, message: string | readonly ContentPart[]): Promise<RunResult>
  /** Lets the agent answer the user's last message again, or the last one before the message named. */
  regenerate(messageId?: string): Promise<RunResult>
  /** Ends all streams. The run goes on; nothing more is sent. */
  close(): void
}

/** An answer to an open interrupt. */
export interface Answer {
  readonly interruptId: string
  /** Default `resolved`. */
  readonly status?: 'resolved' | 'cancelled'
  readonly payload?: unknown
}

/** What became of something that was sent. */
export interface RunResult {
  readonly runId: string
  readonly status: 'completed' | 'interrupted' | 'waiting-for-tools' | 'cancelled' | 'failed'
  /** Why it failed, or why it could not be sent. */
  readonly error?: MillraceError
  /** The thread that has the branch which an edit or a regeneration left. */
  readonly forkedTo?: string
}

export interface PatchResult {
  readonly status: 'completed' | 'failed'
  readonly error?: MillraceError
}

/** A thread at one moment. Never changed. */
export interface ThreadSnapshot<State = unknown, ToolName extends string = string> {
  readonly messages: readonly Message[]
  readonly state: State
  /** `loading` until the thread is known. */
  readonly status: 'loading' | 'idle' | 'running' | 'interrupted' | 'waiting-for-tools'
  /** `retrying` while the server cannot be reached. */
  readonly connection: 'closed' | 'connecting' | 'open' | 'retrying'
  /** The open interrupts. Answer all of them with `resume`. */
  readonly interrupts: readonly Interrupt[]
  /** The answers to some of them, given here and not sent yet. Other tabs do not see them. */
  readonly answers: readonly Answer[]
  /** Calls that wait for a result of this client, or of another tab. */
  readonly pendingToolCalls: readonly PendingCall<ToolName>[]
  /** The subagents of the latest run. */
  readonly subagents: readonly Subagent[]
  /** Tokens of the latest run. */
  readonly usage: readonly TokenUsage[]
  /** Why the latest run, or the latest request, failed. */
  readonly error: MillraceError | undefined
}

export interface PendingCall<ToolName extends string = string> {
  readonly id: string
  readonly name: ToolName
  /** JSON, as the model wrote it. */
  readonly arguments: string
}

export interface Subagent {
  readonly id: string
  readonly name: string
  readonly parentId?: string
  readonly status: 'running' | 'finished' | 'suspended' | 'failed'
}

import type {
  AgentCapabilities,
  ContentPart,
  Context,
  Interrupt,
  Message,
  TokenUsage,
  Tool as ToolInfo,
} from '@ag-ui/core'
import type { Context as TraceContext } from '@opentelemetry/api'
import type { NativeHooks } from '../bridge/native-hooks.js'
import type { Clock } from '../core/clock.js'
import type { IdSource } from '../core/ids.js'
import type { JsonSchema } from '../models/index.js'
import type { AgentEvent } from '../protocol/index.js'
import type { Schema } from './tools/schema.js'

/**
 * Anything that can take part in a conversation: an agent of the kit, of another runtime, or one written by hand. It
 * yields events for observers and returns how it ended.
 */
export interface Agent {
  readonly name: string
  /** What it can do, for the people and the agents who choose it. */
  readonly description: string
  /** Contract: reacts to `ctx.signal`, and has finished all it started when it returns. */
  run(ctx: RunContext): AsyncGenerator<AgentEvent, Control>
  /** What a checkpoint of this agent depends on, its tools and subagents for example. Must be JSON. */
  readonly shape?: unknown
  readonly capabilities?: AgentCapabilities
  /** Prompts that show what it is good for. Clients offer them as suggestions. */
  readonly examples?: readonly string[]
  /** The threads that its runtime keeps in a store of its own. */
  readonly memory?: AgentMemory
  /** Whether a second run after a failure continues where the first one failed, and does nothing twice. */
  readonly resumesAfterFailure?: boolean
  /** Whether it translates a runtime's native events, and passes them to `ctx.services.native` first. */
  readonly hasNativeEvents?: boolean
  /** Limits of its own. */
  readonly limits?: AgentLimits
  /**
   * Top-level keys of the state that clients neither see nor change, of the agent and of those it is made of. The owner of
   * the run sees to that: see `RunServices.isPrivateKey`.
   */
  readonly privateKeys?: readonly string[]
  /**
   * Tells people what it is made of. `outlineTree` calls it and puts the parts together. Contract: has nothing that is secret,
   * instructions included, and may be slow or fail.
   */
  outline?(options: OutlineOptions): AgentOutline | Promise<AgentOutline>
}

export interface OutlineOptions {
  /** Aborts when nobody waits for the outline any more. */
  readonly signal: AbortSignal
}

/** What an agent is made of, one level deep. */
export interface AgentOutline {
  readonly kind: OutlineKind
  /** The runtime of the agent, unless it is the kit. */
  readonly runtime?: 'adk' | 'langgraph' | 'remote'
  /** The provider and the name of its model, if it is the same in every run. */
  readonly model?: string
  readonly tools?: readonly OutlinedTool[]
  /** The agents, or the nodes of a graph, that it may run. */
  readonly agents?: readonly OutlinedAgent[]
  /** Of a graph: which node may follow which, by name. */
  readonly edges?: readonly OutlineEdge[]
}

export type OutlineKind =
  | 'chat'
  | 'sequence'
  | 'parallel'
  | 'loop'
  | 'supervisor'
  | 'plan-execute'
  | 'deep'
  | 'adk'
  | 'graph'
  | 'node'
  | 'remote'
  | 'custom'

export type OutlinedAgent = Pick<Agent, 'name' | 'description' | 'examples' | 'outline'>

/** A tool in an outline. Without `call`, it can be called in a run only. */
export type OutlinedTool = Pick<Tool, 'name' | 'description' | 'parameters' | 'timeoutMs'> &
  Partial<Pick<Tool, 'call'>>

export interface OutlineEdge {
  readonly from: string
  readonly to: string
  readonly label?: string
}

/** Limits of an agent, of any runtime. They win over those of the server. In milliseconds; `Infinity`: no limit. */
export interface AgentLimits {
  /**
   * How long a run of the agent may take, also as a part of another agent's run. Then it fails with EXECUTION_TIMEOUT.
   * Interrupted runs are over: the time that a person takes does not count.
   */
  readonly runTimeoutMs?: number
  /** How long a call of a tool without a limit of its own may take. Agents below this one have the same limit. */
  readonly toolTimeoutMs?: number
}

/** The application and the user that a run is for. */
export interface Identity {
  readonly app: string
  readonly user: string
  /** What else is known of the user: roles of a token, a header. Never stored, never sent. */
  readonly claims?: Claims
}

export type Claims = Readonly<Record<string, unknown>>

export interface ThreadOwner extends Omit<Identity, 'claims'> {
  readonly threadId: string
}

/** A runtime's own memory of threads: the sessions of ADK, for example. */
export interface AgentMemory {
  /** Reads what the runtime has of a thread. Undefined when it does not know it. */
  read(thread: ThreadOwner): Promise<RememberedThread | undefined>
  /** Lists the threads of an owner, in any order. Absent or empty when the runtime cannot tell whose they are. */
  list?(owner: Omit<ThreadOwner, 'threadId'>): Promise<readonly ListedThread[]>
  /** Stores a state that was changed without a run. Does nothing when the thread is unknown. */
  writeState(thread: ThreadOwner, state: unknown): Promise<void>
  /** Forgets a thread. Does nothing when it is unknown. */
  forget(thread: ThreadOwner): Promise<void>
}

/** A thread in the list of a runtime. */
export interface ListedThread {
  readonly threadId: string
  /** When it was last changed, in milliseconds. */
  readonly updatedAt: number
}

/** A thread as a runtime has it. */
export interface RememberedThread {
  readonly messages: readonly Message[]
  /** With the agent's private keys: the server keeps them from clients. */
  readonly state: unknown
  /** Calls that are left to the client. */
  readonly pendingToolCallIds?: readonly string[]
  /** Unanswered interrupts of the agent, as the root of a run. */
  readonly suspension?: Suspension
}

/** How an agent ended. A return value, never an event. */
export type Control =
  | {
      readonly type: 'done'
      readonly result?: unknown
      /** Calls that are left to the client, also of an earlier run. */
      readonly pendingToolCallIds?: readonly string[]
    }
  /** Ends this agent and every agent above it. */
  | { readonly type: 'exit'; readonly result?: unknown }
  /** Hands the conversation over to one of `ctx.transferTargets`. */
  | { readonly type: 'transfer'; readonly to: string }
  /** Ends the loop this agent runs in. */
  | { readonly type: 'break' }
  | Interrupted
  /** Stopped at a safe point on request. */
  | { readonly type: 'cancelled' }

export interface Interrupted extends Suspension {
  readonly type: 'interrupted'
}

/** Where a run can be stopped without losing work: after the model has answered, after its tools have run. */
export type SafePoint = 'model' | 'tools'

/** Everything an agent sees of its run. Passed explicitly, never ambient. What few agents need is in the four groups. */
export interface RunContext extends Identity, Interrupting {
  readonly claims: Claims
  readonly threadId: string
  readonly runId: string
  readonly signal: AbortSignal
  /** The conversation when this agent started, oldest first. At the root: the stored conversation. */
  readonly messages: readonly Message[]
  /**
   * The conversation as this agent sees it now. Its own messages are its own, also those of earlier runs. Messages of
   * other agents appear as context. Messages of agents behind a tool call, or parallel to this one, are left out.
   */
  readonly history: (rewrite?: HistoryRewriter) => readonly Message[]
  /** Values shared by all agents and tools of this run. Must be JSON: they are saved with the checkpoint. */
  readonly values: Map<string, unknown>
  /** The state shared with the client. */
  readonly state: unknown
  /**
   * Replaces the shared state, by value or by a function of the current one. Yield the event it returns: the client gets
   * the difference. A value becomes JSON; throws ENCODING_ERROR, with the path, when it cannot.
   */
  readonly setState: (next: unknown) => AgentEvent
  /**
   * Runs another agent as part of this one, in a subagent span of its own. An agent with unanswered
   * interrupts does not run: this returns the interrupts at once.
   */
  readonly delegate: (agent: Agent, options: DelegateOptions) => AsyncGenerator<AgentEvent, Control>
  /** The agents this one may transfer to. */
  readonly transferTargets: readonly TransferTarget[]
  readonly client: ClientInput
  readonly span: AgentSpan
  readonly resume: ResumeContext
  readonly services: RunServices
}

/** What the client sent beside messages and state. */
interface ClientInput {
  /** Tools the client offers. A call to one ends the run; the client answers with the next. */
  readonly tools: readonly ToolInfo[]
  readonly context: readonly Context[]
  readonly forwardedProps: unknown
}

/** The position of an agent in the run's tree of agents. */
interface AgentSpan {
  /** Unique in the run. */
  readonly address: string
  /** The subagent span this agent runs in. Undefined at the root. */
  readonly subagentRunId: string | undefined
  /** The parent for trace spans of this agent's work. */
  readonly trace: TraceContext
}

/** How an agent raises interrupts of its own making, saves its frame, and resumes from it. */
interface ResumeContext {
  /** The run that was interrupted first; this run when it resumes none. */
  readonly originRunId: string
  /**
   * The answers this run was resumed with, by interrupt id. For agents that return `interrupted` by themselves;
   * `ctx.interrupt` returns its answer directly.
   */
  readonly answers: ReadonlyMap<string, Answer>
  /** Takes the frame this agent saved when the run was interrupted or stopped. Undefined when it starts afresh. */
  readonly takeFrame: () => unknown
  /**
   * Registers a function that returns this agent's frame, called whenever the run is interrupted, waits for the client
   * or is stopped. The frame must be JSON and comes back from `takeFrame`. With undefined the agent starts afresh.
   */
  readonly keepFrame: (frame: (() => unknown) | undefined) => void
  /**
   * The interrupts at an address, and below it, that this run did not answer: return them as `interrupted` and run
   * nothing there. Undefined when there are none, or when one of them was answered. Default: this agent's address.
   */
  readonly openInterruptsAt: (address?: string) => Suspension | undefined
  /** A scope below this agent that may raise interrupts, a tool call for example. `address` must begin with this agent's. */
  readonly interruptScope: (address: string, defaults: InterruptDefaults) => InterruptScope
}

/** What the owner of the run provides. One object for all agents of a run, except those with a limit for tools. */
export interface RunServices {
  readonly newId: IdSource
  readonly clock: Clock
  /** Returns a tool call id that no other call of the thread has: the wanted one if it is free. */
  readonly callId: (wanted: string) => string
  readonly addUsage: (usage: TokenUsage) => void
  /** Reports a problem that is no failure, for the log: without words of others, which belong in the error. */
  readonly report: (problem: string, error?: unknown) => void
  /** Whether the run was asked to stop at this safe point. Return `{ type: 'cancelled' }` then. */
  readonly shouldStop: (at: SafePoint) => boolean
  /**
   * Throws when the thread no longer belongs to this run, for example because its process was suspended for long. Called
   * before each model call, tool call and node.
   */
  readonly assertActive: () => void
  /** How long stopped work may take to clean up, in milliseconds. */
  readonly graceMs: number
  /** How long a tool call may take unless the tool sets its own limit, in milliseconds. */
  readonly toolTimeoutMs: number | undefined
  /** How large the result of a tool may be, in bytes of its JSON. */
  readonly toolResultBytes: number | undefined
  /** Hooks on the events of a runtime, for agents with `hasNativeEvents`. */
  readonly native: NativeHooks | undefined
  /** Is told of each request to a model, as the model gets it. Undefined when nobody looks. Never throws. */
  readonly onModelRequest: ModelObserver | undefined
  /**
   * Whether the owner of the run keeps a key of the state from clients: what is there is not theirs, and what is set there
   * is not shown to them. An agent keeps its private keys out of the state when nobody does.
   */
  readonly isPrivateKey: (key: string) => boolean
}

/** Takes a request when it begins, and returns what takes its end. Neither throws nor keeps what it gets. */
export type ModelObserver = (request: ObservedRequest) => (end: ObservedEnd) => void

/** A request to a model of any runtime. Messages, tools and settings are as that runtime has them. */
export interface ObservedRequest {
  readonly agent: string
  readonly model: string
  readonly instructions?: unknown
  readonly messages: readonly unknown[]
  readonly tools: readonly unknown[]
  readonly settings?: unknown
}

export interface ObservedEnd {
  readonly usage?: TokenUsage
  readonly error?: unknown
}

export interface DelegateOptions {
  /** Makes the child's address unique below this agent's: a call id, an index. A list makes a path. */
  readonly segment: string | readonly string[]
  /** The only messages the child sees. Default: the current conversation, seen from the child's address. */
  readonly messages?: readonly Message[]
  /**
   * The tool call that the child answers, if any. Then only the caller sees its messages, and it does not get the
   * client's tools: it has to answer now.
   */
  readonly toolCallId?: string
  /** Whether others run in parallel to it: they do not see each other's messages until all are done. */
  readonly isLane?: boolean
  /** Whether the child is this agent itself, at another time: its messages are this agent's, without a span. */
  readonly isSelf?: boolean
  /** The agents the child may transfer to. The delegating agent carries the transfer out. Default: none. */
  readonly transferTargets?: readonly TransferTarget[]
  readonly signal?: AbortSignal
  /** The parent of the child's trace spans. Default: this agent's. */
  readonly trace?: TraceContext
}

export interface TransferTarget {
  readonly name: string
  readonly description: string
  /** Its position, seen from the agent that transfers. */
  readonly relation: 'child' | 'parent' | 'peer'
}

/** A message of the conversation and its author. */
export interface HistoryEntry {
  readonly message: Message
  /** The agent that wrote it. Undefined for users and for system messages. */
  readonly agent: string | undefined
  /** Whether the agent that reads it now wrote it. */
  readonly isOwn: boolean
}

/** Turns a conversation into the messages an agent reads. Must not change its arguments. */
export type HistoryRewriter = (entries: readonly HistoryEntry[]) => readonly Message[]

/** What every context that can interrupt the run has in common. */
export interface Interrupting {
  /**
   * Interrupts the run to ask a person, or returns the answer when it is there. The first time it throws: let the error
   * pass, do not catch it. When the run is resumed, the agent or tool runs again from its beginning, and this returns
   * the answer. Several interrupts in one agent or tool call are identified by their order, which must not change.
   */
  readonly interrupt: <Payload = unknown>(request: InterruptRequest<Payload>) => Promise<Answer<Payload>>
  /** The `state` of the last interrupt. Undefined the first time. */
  readonly resumed: { readonly state: unknown } | undefined
}

/** What a tool or an agent asks a person. */
export interface InterruptRequest<Payload = unknown> {
  /** Why the run stops: `tool_call`, `input_required`, `confirmation`, or `<yours>:<name>`. */
  readonly reason?: string
  /** What the person reads. */
  readonly message?: string
  /** What an answer must look like. Answers that do not fit are refused before anything runs. */
  readonly responseSchema?: Schema<Payload>
  /** Saved, and returned as `resumed.state` when the agent or tool runs again. Must be JSON. Not sent to clients. */
  readonly state?: unknown
  readonly expiresAt?: Interrupt['expiresAt']
  readonly metadata?: Interrupt['metadata']
}

export type Answer<Payload = unknown> =
  | { readonly status: 'resolved'; readonly payload: Payload }
  /** The person declined to answer. */
  | { readonly status: 'cancelled' }

/** An interrupt without an answer, and the address that raised it. */
export interface OpenInterrupt {
  readonly interrupt: Interrupt
  readonly address: string
}

/** What each interrupted agent and tool call needs to resume, by address. JSON. */
export type Frames = Readonly<Record<string, unknown>>

/** Open interrupts, with the frames needed to resume. */
export interface Suspension {
  readonly openInterrupts: readonly OpenInterrupt[]
  readonly frames: Frames
}

/** What may raise interrupts: an agent or a tool call. */
export interface InterruptScope extends Interrupting {
  /** The open interrupts, also when a thrown signal was swallowed. */
  suspension(): Suspension | undefined
  /** Adds the open interrupts of a scope below this one. */
  add(below: Suspension): void
}

export type InterruptDefaults = Pick<Interrupt, 'reason' | 'toolCallId' | 'subagentRunId'>

/** A tool as a chat agent sees it. Make one with `defineTool`. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, as the model gets it. */
  readonly parameters: JsonSchema
  /** The result ends the agent: the model does not see it. */
  readonly returnDirectly?: boolean
  /** What a checkpoint of this tool depends on, the agents in it for example. Must be JSON. */
  readonly shape?: unknown
  /** The private keys of the agents in it. */
  readonly privateKeys?: Agent['privateKeys']
  /** The agents that a call may run, for outlines. */
  readonly agents?: readonly OutlinedAgent[]
  /**
   * How long a call may take, in milliseconds. Then `ctx.signal` aborts and the call fails with TOOL_ERROR, settled or
   * not. Default: the limit of the run. `Infinity`: no limit.
   */
  readonly timeoutMs?: number
  /**
   * Checks the arguments and runs. A generator yields progress and returns the result. Throws
   * INVALID_TOOL_ARGUMENTS when the arguments do not fit; whatever else it throws is the tool's own failure.
   */
  call(args: unknown, ctx: ToolContext): unknown
}

/** Provides tools at run time, an MCP server for example. */
export interface ToolSource {
  /** Lists the tools. Called at the start of every run, so it should answer from a cache. */
  tools(options: { readonly signal: AbortSignal }): Promise<readonly Tool[]>
}

/** What a tool can see and do while it runs. */
export interface ToolContext extends Identity, Interrupting {
  readonly claims: Claims
  readonly threadId: string
  readonly runId: string
  readonly toolCallId: string
  readonly toolName: string
  /** The agent whose model made the call. */
  readonly agentName: string
  /** Aborts when the run is cancelled or the tool's time is over. Throw then: a value that is returned is the result. */
  readonly signal: AbortSignal
  /** What the client sent with the run: its context and `forwardedProps`. */
  readonly client: ClientInput
  /** The conversation up to and including the call. */
  readonly messages: readonly Message[]
  /** Values shared by everything in this run. Must be JSON: they are saved with the checkpoint. */
  readonly values: Map<string, unknown>
  /** The state shared with the client. Change it with `setState`. */
  readonly state: unknown
  /**
   * Replaces the shared state, by value or by a function of the current one. The client gets the difference. A value
   * becomes JSON; throws ENCODING_ERROR, with the path, when it cannot.
   */
  readonly setState: (next: unknown) => void
  /** Sends an AG-UI event of the tool's own, for example CUSTOM or ACTIVITY_SNAPSHOT. */
  readonly emit: (event: AgentEvent) => void
  /**
   * Runs an agent as part of this call, in a subagent span of its own. Each event that the tool reads is sent. When
   * it is interrupted or stopped at a safe point, so is the tool: this throws, as `interrupt` does.
   */
  readonly delegate: (agent: Agent, options: DelegatedCall) => AsyncGenerator<AgentEvent, DelegatedEnd>
  /** Ends the agent, and every agent above it, after this batch of calls. `result` becomes the result of the run. */
  readonly exit: (result?: unknown) => void
  /** Ends the agent, and the loop it runs in, after this batch of calls. */
  readonly breakLoop: () => void
  /** Transfers to another agent after this batch of calls. `to` must be one of the agent's transfer targets. */
  readonly transfer: (to: string) => void
}

export interface DelegatedCall {
  readonly messages: readonly Message[]
  /** Whether none of the agent's events are sent. Its interrupts are. */
  readonly isSilent?: boolean
}

/** How an agent behind a tool call ends. */
export type DelegatedEnd = Exclude<Control, Interrupted | { type: 'cancelled' }>

/** How a tool ends its agent. */
export type ToolEnd = Extract<Control, { type: 'exit' | 'break' | 'transfer' }>

/** A result with media in it, or exact control over the parts. Make one with `contentResult`. */
export interface ContentResult {
  readonly parts: readonly ContentPart[]
}

import type {
  AgentCapabilities,
  Context,
  Message,
  TokenUsage,
  Tool as ToolInfo,
  ContentPart,
  Interrupt,
} from '@ag-ui/core'
import type { Context as TraceContext } from '@opentelemetry/api'
import type { NativeHooks } from '../bridge/native-hooks.js'
import type { Clock } from '../core/clock.js'
import type { IdSource } from '../core/ids.js'
import type { AgentEvent } from '../protocol/index.js'
import type { InterruptScope, InterruptDefaults } from './interrupts/interrupt-scope.js'
import type { HistoryRewriter } from './history/history.js'
import type { Suspension } from './interrupts/resumption.js'
import type { JsonSchema } from '../models/index.js'
import type { Schema } from './tools/schema.js'

/**
 * Anything that can take part in a conversation: an agent of the kit, of another runtime, or one written by hand. It
 * yields what observers see and returns what happens next.
 */
export interface Agent {
  readonly name: string
  /** What it can do, for the people and the agents who choose it. */
  readonly description: string
  /** Contract: reacts to `ctx.signal`, and is done with all it started when it returns. */
  run(ctx: RunContext): AsyncGenerator<AgentEvent, Control>
  /** What a saved position in this agent depends on, its tools and agents for example. Must be JSON. */
  readonly shape?: unknown
  readonly capabilities?: AgentCapabilities
  /** What to ask it first: prompts that show its point. */
  readonly examples?: readonly string[]
  /** What its runtime keeps of threads in a place of its own. */
  readonly memory?: AgentMemory
  /** Whether it goes on from where it was when it is run again after a failure, and does nothing twice. */
  readonly resumesAfterFailure?: boolean
  /** Whether it makes AG-UI events of a runtime's own, and shows those to `ctx.native` first. */
  readonly hasNativeEvents?: boolean
}

/** Whose thread. */
export interface ThreadOwner extends Identity {
  readonly threadId: string
}

/** For whom a run is: an application and one of its users. */
export interface Identity {
  readonly app: string
  readonly user: string
}

/** A runtime's own memory of threads: the sessions of ADK, for example. */
export interface AgentMemory {
  /** What the runtime has of a thread. Undefined when it does not know it. */
  read(thread: ThreadOwner): Promise<RememberedThread | undefined>
  /** Takes over a state that was changed without a run. Does nothing when it does not know the thread. */
  writeState(thread: ThreadOwner, state: unknown): Promise<void>
  /** Forgets a thread. Does nothing when it does not know it. */
  forget(thread: ThreadOwner): Promise<void>
}

/** A thread as a runtime has it. */
export interface RememberedThread {
  readonly messages: readonly Message[]
  readonly state: unknown
  /** Calls that are left to the client. */
  readonly pendingToolCallIds?: readonly string[]
  /** Questions of the agent, as the root of a run, that nobody has answered yet. */
  readonly suspension?: Suspension
}

/** How an agent hands back control. Never told by an event. */
export type Control =
  | {
      readonly type: 'done'
      readonly result?: unknown
      /** Calls that are left to the client, also of an earlier run. */
      readonly pendingToolCallIds?: readonly string[]
    }
  /** Ends this agent and every one above it. */
  | { readonly type: 'exit'; readonly result?: unknown }
  /** Hands over to another agent: one of `ctx.transferTargets`. */
  | { readonly type: 'transfer'; readonly to: string }
  /** Ends the loop this agent runs in. */
  | { readonly type: 'break' }
  | Interrupted
  /** Stopped at a safe point, as it was asked to. */
  | { readonly type: 'cancelled' }

/** Stopped to ask. `frames` is all that is needed to go on from here, by address. */
export interface Interrupted extends Suspension {
  readonly type: 'interrupted'
}

/** A safe point to stop at: after a model has answered, after the tools it called have run. */
export type SafePoint = 'model' | 'tools'

/** Everything an agent sees of its run. Passed explicitly, never ambient. What few agents need is in the four groups. */
export interface RunContext extends Identity, Interrupting {
  readonly threadId: string
  readonly runId: string
  readonly signal: AbortSignal
  /** The conversation when this agent started, oldest first. At the root: as it is stored. */
  readonly messages: readonly Message[]
  /**
   * The conversation as this agent sees it now. Its own messages are its own, also those of earlier runs. Messages of
   * other agents appear as context. What others did behind a tool call, or in parallel to it, is left out.
   */
  readonly history: (rewrite?: HistoryRewriter) => readonly Message[]
  /** Values shared by all agents and tools of this run. Must be JSON: they are saved with the checkpoint. */
  readonly values: Map<string, unknown>
  /** The state shared with the client. */
  readonly state: unknown
  /**
   * Replaces the shared state, by value or by a function of the current one. Yield the event it returns: the client gets
   * the difference. Throws ENCODING_ERROR, with the path, for a value that is not JSON.
   */
  readonly setState: (next: unknown) => AgentEvent
  /**
   * Runs another agent as part of this one, in a subagent span of its own. An agent whose interrupts are still
   * unanswered is not run: its interrupts come back at once.
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
export interface ClientInput {
  /** Tools the client offers. A call to one ends the run; the client answers with the next. */
  readonly tools: readonly ToolInfo[]
  readonly context: readonly Context[]
  readonly forwardedProps: unknown
}

/** The position of an agent in the run's tree of agents. */
export interface AgentSpan {
  /** Unique in the run. */
  readonly address: string
  /** The subagent span this agent runs in. Undefined at the root. */
  readonly subagentRunId: string | undefined
  /** The parent for trace spans of this agent's work. */
  readonly trace: TraceContext
}

/** How an agent raises interrupts of its own making, saves where it stands, and resumes from there. */
export interface ResumeContext {
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
   * Registers a function that gives this agent's frame, called whenever the run is interrupted, waits for the client
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

/** What the owner of the run provides. One object for all agents of a run. */
export interface RunServices {
  readonly newId: IdSource
  readonly clock: Clock
  /** A tool call id that no other call of the thread has: the wanted one if it is free. */
  readonly callId: (wanted: string) => string
  readonly addUsage: (usage: TokenUsage) => void
  /** Reports a problem that is no failure but should not go unnoticed. */
  readonly report: (problem: string) => void
  /** Whether the run was asked to stop at this safe point. Return `{ type: 'cancelled' }` then. */
  readonly shouldStop: (at: SafePoint) => boolean
  /** How long stopped work may take to clean up, in milliseconds. */
  readonly graceMs: number
  /** How long a tool call may take unless the tool sets its own limit, in milliseconds. */
  readonly toolTimeoutMs: number | undefined
  /** Hooks on the events of a runtime, for agents with `hasNativeEvents`. */
  readonly native: NativeHooks | undefined
}

/** An agent to hand over to. */
export interface TransferTarget {
  readonly name: string
  readonly description: string
  /** Where it stands, seen from the one who hands over. */
  readonly relation: 'child' | 'parent' | 'peer'
}

export interface DelegateOptions {
  /** What makes the child's address unique below this agent's: a call id, an index. Several make a path. */
  readonly segment: string | readonly string[]
  /** What the child is told, and nothing else. Default: the conversation as it is, seen from its place. */
  readonly messages?: readonly Message[]
  /**
   * The call that the child answers, if any. Then nobody but the caller hears what it says, and it is not offered the
   * client's tools: it has to answer now.
   */
  readonly toolCallId?: string
  /** Whether others run beside it: then it does not hear them, nor they it, until all are done. */
  readonly isLane?: boolean
  /** Whether the child is this agent itself, at another time: its words are this agent's, with no span around them. */
  readonly isSelf?: boolean
  /** Whom the child may hand over to. Whoever delegates has to see to it. Default: nobody. */
  readonly transferTargets?: readonly TransferTarget[]
  readonly signal?: AbortSignal
  /** What the child's work is part of, on the trace. Default: this agent's. */
  readonly trace?: TraceContext
}

/** What a tool can see and do while it runs. */
export interface ToolContext extends Interrupting {
  readonly threadId: string
  readonly runId: string
  readonly toolCallId: string
  readonly toolName: string
  /** The agent whose model has called. */
  readonly agentName: string
  /** How long a call may take in this run unless the tool has a limit of its own. */
  readonly timeoutMs: number | undefined
  /** Aborts when the run is cancelled or the tool's time is over. Throw then: what is returned counts as the result. */
  readonly signal: AbortSignal
  /** The conversation up to and including the call. */
  readonly messages: readonly Message[]
  /** Values shared by everything in this run. Must be JSON: they are saved when the run pauses. */
  readonly values: Map<string, unknown>
  /** The state shared with the client. Change it with `setState`. */
  readonly state: unknown
  /**
   * Replaces the shared state, by value or by a function of the current one. The client gets the difference. Throws
   * ENCODING_ERROR, with the place, for what is not JSON.
   */
  readonly setState: (next: unknown) => void
  /** Sends an AG-UI event of the tool's own, for example CUSTOM or ACTIVITY_SNAPSHOT. */
  readonly emit: (event: AgentEvent) => void
  /**
   * Runs an agent as part of this call, in a subagent span of its own. What it does is sent on as it is read here, and
   * when it stops, to ask or at a safe point, so does the tool: this throws, as `interrupt` does.
   */
  readonly delegate: (agent: Agent, options: DelegatedCall) => AsyncGenerator<AgentEvent, DelegatedEnd>
  /** Ends the agent, and every agent above it, after this batch of calls. `result` becomes the result of the run. */
  readonly exit: (result?: unknown) => void
  /** Ends the agent, and the loop it runs in, after this batch of calls. */
  readonly breakLoop: () => void
  /** Hands over to another agent after this batch of calls. `to` must be one that this agent may hand over to. */
  readonly transfer: (to: string) => void
}

/** How a tool ends its agent. */
export type ToolEnd = Extract<Control, { type: 'exit' | 'break' | 'transfer' }>

/** How an agent ends that works on a call. */
export type DelegatedEnd = Exclude<Control, Interrupted | { type: 'cancelled' }>

export interface DelegatedCall {
  readonly messages: readonly Message[]
  /** Whether nothing of what the agent does is sent. Its questions are asked all the same. */
  readonly isSilent?: boolean
}

/** A tool as the loop sees it. Make one with `defineTool`. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, as the model gets it. */
  readonly parameters: JsonSchema
  /** The result ends the agent: the model does not see it. */
  readonly returnDirectly?: boolean
  /** What a saved position in this tool depends on, the agents in it for example. Must be JSON. */
  readonly shape?: unknown
  /**
   * Checks the arguments and runs. An async generator yields progress and returns the result. Throws
   * INVALID_TOOL_ARGUMENTS when the arguments do not fit; whatever else it throws is the tool's own failure.
   */
  call(args: unknown, ctx: ToolContext): unknown
}

/** A place tools come from at run time, an MCP server for example. */
export interface ToolSource {
  /** Lists the tools. Called at the start of every run, so it should answer from a cache. */
  tools(options: { readonly signal: AbortSignal }): Promise<readonly Tool[]>
}

/** A result with media in it, or exact control over the parts. Make one with `contentResult`. */
export interface ContentResult {
  readonly parts: readonly ContentPart[]
}

/** A question to a person, as a tool or an agent asks it. */
export interface InterruptRequest<Payload = unknown> {
  /** Why the run stops: `tool_call`, `input_required`, `confirmation`, or `<yours>:<name>`. */
  readonly reason?: string
  /** What the person reads. */
  readonly message?: string
  /** What an answer must look like. Answers that do not fit are refused before anything runs. */
  readonly responseSchema?: Schema<Payload>
  /** Kept for the asker, and given back as `resumed.state` when it runs again. Must be JSON. Not sent to clients. */
  readonly state?: unknown
  readonly expiresAt?: Interrupt['expiresAt']
  readonly metadata?: Interrupt['metadata']
}

export type Answer<Payload = unknown> =
  | { readonly status: 'resolved'; readonly payload: Payload }
  /** The person walked away from the question. */
  | { readonly status: 'cancelled' }

/** What every context that can stop to ask has in common. */
export interface Interrupting {
  /**
   * Stops the run to ask a person, or gives the answer when it is there. The first time it throws: let the error pass,
   * do not catch it. When the run is resumed, the asker runs again from its beginning, and this returns the answer.
   * Several questions in one asker are told apart by their order, which must not change.
   */
  readonly interrupt: <Payload = unknown>(request: InterruptRequest<Payload>) => Promise<Answer<Payload>>
  /** Set when this is not the first time: what the last question kept with `state`. */
  readonly resumed: { readonly state: unknown } | undefined
}

import type { AgentCapabilities } from '@ag-ui/core'
import type {
  App,
  BaseArtifactService,
  BaseCredentialService,
  BaseMemoryService,
  BasePlugin,
  BaseSessionService,
  RunConfig,
  Runner,
  RunnerConfig,
} from '@google/adk'
import type {
  AgentLimits,
  HistoryRewriter,
  PredictStateMapping,
  RunContext,
  ThreadOwner,
} from '../agents/index.js'

type NodeFunction = (...args: never[]) => unknown

/** An agent, a workflow, a node or a tool of ADK; an app; or a function that makes a Runner for a run. */
export type AdkRoot = Exclude<NonNullable<RunnerConfig['agent']>, NodeFunction> | App | RunnerFactory

/**
 * Makes the Runner of one run. The run uses its agent, services and plugins, and does not change it. Also called without
 * a run, when a thread is read, changed, listed or removed: then only the services and the app name count.
 */
export type RunnerFactory = (thread: ThreadOwner, ctx: RunContext | undefined) => Runner | Promise<Runner>

/** A value, or a function that returns one for a run. */
export type PerRun<T> = T | ((ctx: RunContext) => T | Promise<T>)

/** A value, or a function that returns one for a thread. Threads are also read, changed and removed without a run. */
export type PerThread<T> = T | ((thread: ThreadOwner) => T | Promise<T>)

/** Options of `fromAdk`. */
export interface AdkOptions {
  /** Default: the name of the agent or of the app. A Runner factory needs one. */
  readonly name?: string
  /** Default: the description of the agent. */
  readonly description?: string
  /** Example prompts. */
  readonly examples?: readonly string[]
  readonly capabilities?: AgentCapabilities
  readonly limits?: AgentLimits
  /** Turns the conversation into the messages this agent reads. Default: messages of other agents become context. */
  readonly historyRewriter?: HistoryRewriter

  /** The app name of ADK's sessions. Default: the name of the app, or of the agent. */
  readonly appName?: PerThread<string>
  /** The user of ADK's sessions. Default: the user that the server has identified. */
  readonly userId?: PerThread<string>
  /**
   * The session of a thread. Default: the one with the id of the thread. With `generated` the session service makes the
   * id, as some services insist on, and the thread's id is stored in the session's state.
   */
  readonly sessionId?: 'generated' | ((thread: ThreadOwner) => string | Promise<string>)

  /** ADK's run configuration. Default: streaming. */
  readonly runConfig?: PerRun<RunConfig>

  readonly sessionService?: BaseSessionService
  readonly artifactService?: BaseArtifactService
  readonly memoryService?: BaseMemoryService
  readonly credentialService?: BaseCredentialService
  readonly plugins?: readonly BasePlugin[]
  /**
   * Whether missing services are kept in memory. False: the session service is required, and each other one when a tool
   * of the tree needs it. Default true.
   */
  readonly inMemoryServices?: boolean

  /**
   * Which agents of the tree may use the client's tools. Default: those with a `clientTools()` among their tools, or all
   * agents when none has one.
   */
  readonly clientTools?: 'everywhere' | 'placed' | 'nowhere'
  /** `temp:` state for the tools and instructions of one run. Never stored, never sent. */
  readonly tempState?: PerRun<Readonly<Record<string, unknown>>>
  /** Tool arguments that clients may show as state while the call is written. */
  readonly predictState?: readonly PredictStateMapping[]
  /** Whether each run ends with a MESSAGES_SNAPSHOT. Default false: clients have the messages. */
  readonly messagesSnapshot?: boolean
}

/** The value of an option for a run or a thread. */
export async function resolveOption<T, On>(
  option: T | ((on: On) => T | Promise<T>) | undefined,
  on: On,
): Promise<T | undefined> {
  // No option takes a function as its value.
  return typeof option === 'function' ? await (option as (on: On) => T | Promise<T>)(on) : option
}

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
import type { RunContext, ThreadOwner } from '../agents/index.js'
import type { PredictStateMapping } from './translate/predict-state.js'

type NodeFunction = (...args: never[]) => unknown

/** What ADK runs: an agent, a workflow, a node or a tool; an app; or a function that makes a Runner for a run. */
export type AdkRoot = Exclude<NonNullable<RunnerConfig['agent']>, NodeFunction> | App | RunnerFactory

/** Makes the Runner of one run. Its agent, services and plugins are used; it is not changed. */
export type RunnerFactory = (ctx: RunContext) => Runner | Promise<Runner>

/** A value, or a function that gives one for a run. */
export type PerRun<T> = T | ((ctx: RunContext) => T | Promise<T>)

/** A value, or a function that gives one for a thread. Threads are also read, changed and removed without a run. */
export type PerThread<T> = T | ((thread: ThreadOwner) => T | Promise<T>)

/** How an ADK agent is served. */
export interface AdkOptions {
  /** What it is called. Default: the name of the agent or of the app. A Runner factory needs one. */
  readonly name?: string
  /** Default: the description of the agent. */
  readonly description?: string
  /** Prompts that show its point. */
  readonly examples?: readonly string[]
  readonly capabilities?: AgentCapabilities

  /** Under which name ADK keeps sessions. Default: the name of the app, or of the agent. */
  readonly appName?: PerThread<string>
  /** Whose sessions they are for ADK. Default: the user the server has identified. */
  readonly userId?: PerThread<string>
  /**
   * Which session belongs to a thread. Default: the one with the id of the thread. `generated` lets the session service
   * make the id, for services that insist on it, and looks it up by the thread.
   */
  readonly sessionId?: 'generated' | ((thread: ThreadOwner) => string | Promise<string>)

  /** How ADK runs the agent. Default: streaming. */
  readonly runConfig?: PerRun<RunConfig>

  readonly sessionService?: BaseSessionService
  readonly artifactService?: BaseArtifactService
  readonly memoryService?: BaseMemoryService
  readonly credentialService?: BaseCredentialService
  readonly plugins?: readonly BasePlugin[]
  /** Whether services that are not given are kept in memory. False: a missing one is an error at once. Default true. */
  readonly inMemoryServices?: boolean

  /**
   * Which agents of the tree may use the client's tools. Default: those with a `clientTools()` among their tools, or all
   * when there is no such agent.
   */
  readonly clientTools?: 'everywhere' | 'placed' | 'nowhere'
  /** Values for tools and instructions of one run, as `temp:` state. Never stored, never sent. */
  readonly tempState?: PerRun<Readonly<Record<string, unknown>>>
  /** Which arguments of a call clients may show as state while they are written. */
  readonly predictState?: readonly PredictStateMapping[]
  /** Whether each run ends with all messages of the thread in one event. Default false: clients have them. */
  readonly messagesSnapshot?: boolean
}

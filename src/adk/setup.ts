import { isApp, Runner, type BasePlugin, type BaseSessionService } from '@google/adk'
import type { RunContext, ThreadOwner } from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/is-record.js'
import type { SessionKey } from './adk-types.js'
import type { AdkOptions, AdkRoot } from './options.js'
import { pluginsOf, QuietPlugins } from './quiet-plugins.js'
import { servicesOf } from './services.js'
import { createSessionFinder, type SessionRequest } from './session/find-session.js'
import { safeSessions } from './session/safe-service.js'

/** The agent or workflow that a Runner runs. */
export type RunnableRoot = Runner['agent']

/** An ADK agent with all that its runs have in common. Nothing of it changes with a run. */
export interface AdkSetup {
  readonly name: string
  readonly description: string
  readonly options: AdkOptions
  /** What runs are made after: their agent, services and plugins. */
  readonly runnerFor: (ctx: RunContext) => Runner | Promise<Runner>
  /** The Runner of all runs, unless each has one of its own. */
  readonly shared: Runner | undefined
  /** Where ADK keeps threads. */
  readonly sessions: SessionKeys
}

/** Finds the sessions of threads. */
interface SessionKeys {
  /** The session of a thread, to run in. */
  readonly find: (thread: ThreadOwner, runner: Runner) => Promise<SessionKey>
  /** The same, if there can be one. Makes nothing. */
  readonly existing: (thread: ThreadOwner, runner: Runner) => Promise<SessionKey | undefined>
  /** To be called when the session of a thread was deleted. */
  readonly forget: (thread: ThreadOwner, runner: Runner) => Promise<void>
}

/** Throws INVALID_AGENT, saying what is missing, for what cannot be served. */
export function setUp(root: AdkRoot, options: AdkOptions): AdkSetup {
  if (typeof root === 'function') {
    const { name, description = '' } = options
    if (name === undefined) throw invalid('An agent made of a Runner factory needs a `name`.')
    return { name, description, options, shared: undefined, runnerFor: root, sessions: sessionKeys(options) }
  }
  const shared = sharedRunner(root, options)
  const name = options.name ?? (isApp(root) ? root.name : shared.agent.name)
  const description = options.description ?? shared.agent.description
  return { name, description, options, shared, runnerFor: () => shared, sessions: sessionKeys(options) }
}

function sharedRunner(root: Exclude<AdkRoot, (...args: never[]) => unknown>, options: AdkOptions): Runner {
  const { appName, plugins = [] } = options
  const services = servicesOf(options)
  const runner = isApp(root)
    ? new Runner({ ...services, appName: root.name, agent: root.rootAgent })
    : new Runner({ ...services, appName: typeof appName === 'string' ? appName : nameOf(root), agent: root })
  const own = isApp(root) ? root.plugins : []
  return Object.defineProperty(runner, 'pluginManager', { value: new QuietPlugins([...own, ...plugins]) })
}

function nameOf(root: unknown): string {
  const name: unknown = isRecord(root) ? root.name : undefined
  if (typeof name === 'string' && name !== '') return name
  throw invalid('`fromAdk` takes an agent, a workflow, an app or a function that makes a Runner.')
}

function sessionKeys({ appName, userId, sessionId }: AdkOptions): SessionKeys {
  const finder = createSessionFinder({ sessionId })
  const request = async (thread: ThreadOwner, runner: Runner): Promise<SessionRequest> => ({
    service: safeSessions(runner.sessionService),
    appName: (await valueFor(appName, thread)) ?? runner.appName,
    userId: (await valueFor(userId, thread)) ?? thread.user,
    thread,
  })
  return {
    find: async (thread, runner) => finder(await request(thread, runner)),
    existing: async (thread, runner) => finder.existing(await request(thread, runner)),
    forget: async (thread, runner) => finder.forget(await request(thread, runner)),
  }
}

/** The value for a run or a thread, whichever way it is given. */
export async function valueFor<T, On>(
  given: T | ((on: On) => T | Promise<T>) | undefined,
  on: On,
): Promise<T | undefined> {
  // No value here is a function itself.
  return typeof given === 'function' ? await (given as (on: On) => T | Promise<T>)(on) : given
}

export interface RunParts {
  readonly appName: string
  readonly root: RunnableRoot
  readonly sessionService: BaseSessionService
  /** Comes before the plugins of the team: theirs may end the round. */
  readonly plugin: BasePlugin
}

/** A Runner for one run: as the one it is made after, with parts of this run's own. */
export function runnerWith(runner: Runner, { appName, root, sessionService, plugin }: RunParts): Runner {
  return Object.create(runner, {
    appName: { value: appName },
    agent: { value: root },
    sessionService: { value: sessionService },
    pluginManager: { value: new QuietPlugins([plugin, ...pluginsOf(runner.pluginManager)]) },
    // Where a run goes on is decided by the tree.
    resumabilityConfig: { value: undefined },
  }) as Runner
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_AGENT', message)
}

import {
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryMemoryService,
  InMemorySessionService,
  isApp,
  Runner,
  type RunnerConfig,
} from '@google/adk'
import type { RunContext } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { AdkOptions, AdkRoot } from '../options.js'
import { SessionFinder } from '../session/find-session.js'
import { RunPluginManager } from './plugin-manager.js'

/** An ADK agent with all that its runs share. No run changes it. */
export interface AdkSetup {
  readonly name: string
  readonly description: string
  readonly options: AdkOptions
  /** The Runner whose agent, services and plugins a run uses. */
  readonly runnerFor: (ctx: RunContext) => Runner | Promise<Runner>
  /** The Runner of all runs, unless each has one of its own. */
  readonly shared: Runner | undefined
  readonly sessions: SessionFinder
}

/** Throws INVALID_AGENT, saying what is missing, for a root that cannot be served. */
export function setUpAdk(root: AdkRoot, options: AdkOptions): AdkSetup {
  const sessions = new SessionFinder(options)
  if (typeof root === 'function') {
    const { name, description = '' } = options
    if (name === undefined) throw invalidAgent('An agent made of a Runner factory needs a `name`.')
    return { name, description, options, shared: undefined, runnerFor: root, sessions }
  }
  const shared = createSharedRunner(root, options)
  const name = options.name ?? (isApp(root) ? root.name : shared.agent.name)
  const description = options.description ?? shared.agent.description
  return { name, description, options, shared, runnerFor: () => shared, sessions }
}

function createSharedRunner(
  root: Exclude<AdkRoot, (...args: never[]) => unknown>,
  options: AdkOptions,
): Runner {
  const { appName, plugins = [] } = options
  const services = servicesFrom(options)
  const runner = isApp(root)
    ? new Runner({ ...services, appName: root.name, agent: root.rootAgent })
    : new Runner({
        ...services,
        appName: typeof appName === 'string' ? appName : rootName(root),
        agent: root,
      })
  const own = isApp(root) ? root.plugins : []
  return Object.defineProperty(runner, 'pluginManager', { value: new RunPluginManager([...own, ...plugins]) })
}

function rootName(root: unknown): string {
  const name: unknown = isRecord(root) ? root.name : undefined
  if (typeof name === 'string' && name !== '') return name
  throw invalidAgent('`fromAdk` takes an agent, a workflow, an app or a function that makes a Runner.')
}

type Services = Required<
  Pick<RunnerConfig, 'sessionService' | 'artifactService' | 'memoryService' | 'credentialService'>
>

/** Throws INVALID_AGENT when a service is missing and may not be kept in memory. */
function servicesFrom(options: AdkOptions): Services {
  const { sessionService, artifactService, memoryService, credentialService } = options
  if (options.inMemoryServices === false) {
    const services = { sessionService, artifactService, memoryService, credentialService }
    const missing = Object.entries(services).flatMap(([name, service]) => (service ? [] : [`\`${name}\``]))
    if (missing.length > 0)
      throw invalidAgent(
        `With \`inMemoryServices: false\` every service is given: ${missing.join(', ')} is missing.`,
      )
  }
  return {
    sessionService: sessionService ?? new InMemorySessionService(),
    artifactService: artifactService ?? new InMemoryArtifactService(),
    memoryService: memoryService ?? new InMemoryMemoryService(),
    credentialService: credentialService ?? new InMemoryCredentialService(),
  }
}

function invalidAgent(message: string): MillraceError {
  return new MillraceError('INVALID_AGENT', message)
}

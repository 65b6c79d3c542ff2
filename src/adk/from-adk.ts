import {
  InMemoryArtifactService,
  InMemoryCredentialService,
  InMemoryMemoryService,
  Runner,
  type RunnerConfig,
  isApp,
  isLlmAgent,
} from '@google/adk'
import {
  checkOptionNames,
  invalidAgent,
  limitsMember,
  withHistory,
  withPredictedState,
  type Agent,
  type Control,
  type RunContext,
} from '../agents/index.js'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import { countingMessages, createRunStream, type AgentEvent } from '../protocol/index.js'
import type { AdkOptions, AdkRoot } from './contract.js'
import { runAdk } from './run/run-adk.js'
import { RunPluginManager } from './run/plugin-manager.js'
import type { AdkSetup } from './run/prepare-run.js'
import { SessionFinder } from './session/find-session.js'
import { createSessionMemory } from './session/session-memory.js'
import { checkPredictedTools, knownToolNames } from './tools/known-tools.js'
import { RecentSessions } from './session/recent-sessions.js'
import { indexAgents } from './tree/agent-index.js'
import { outlineAdk } from './tree/outline-adk.js'

/**
 * Makes an Agent of what ADK can run. Throws INVALID_AGENT, saying what is wrong, for a root that cannot be served and for
 * options that do not exist.
 *
 * @example
 * createServer({ agents: [fromAdk(new LlmAgent({ name: 'helper', model: 'gemini-2.5-flash' }))] })
 */
export function fromAdk(root: AdkRoot, options: AdkOptions = {}): Agent {
  checkOptionNames('fromAdk', options, optionNames)
  const setup = setUpAdk(root, options)
  const { name, description } = setup
  const { examples, capabilities, messagesSnapshot = false } = options
  const memory = createSessionMemory(setup)
  const agent: Agent = {
    name,
    description,
    hasNativeEvents: true,
    resumesAfterFailure: true,
    run: withPredictedState(
      (ctx) => (messagesSnapshot ? withMessagesSnapshot(runAdk(setup, ctx), ctx) : runAdk(setup, ctx)),
      { predictState: options.predictState, tools: setup.toolNames },
    ),
    memory,
    ...(typeof root === 'function' ? {} : { outline: () => outlineAdk(isApp(root) ? root.rootAgent : root) }),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
    ...limitsMember(options.limits),
  }
  return withHistory(agent, options.historyRewriter)
}

// The compiler checks that none is missing.
const optionNames: Readonly<Record<keyof AdkOptions, true>> = {
  ...{
    name: true,
    description: true,
    examples: true,
    capabilities: true,
    limits: true,
    historyRewriter: true,
  },
  ...{ appName: true, userId: true, sessionId: true, runConfig: true, plugins: true, clientTools: true },
  ...{ sessionService: true, artifactService: true, memoryService: true, credentialService: true },
  ...{ inMemoryServices: true, tempState: true, predictState: true, messagesSnapshot: true },
}

/** Throws INVALID_AGENT, saying what is missing, for a root that cannot be served. */
function setUpAdk(root: AdkRoot, options: AdkOptions): AdkSetup {
  const sessions = new SessionFinder(options)
  if (typeof root === 'function') {
    const { name, description = '' } = options
    if (name === undefined) throw invalidAgent('An agent made of a Runner factory needs a `name`.')
    const longTermMemoryOf = ({ memoryService }: Runner) => memoryService
    const toolNames = undefined
    return { name, description, options, runnerFor: root, longTermMemoryOf, sessions, toolNames }
  }
  const shared = createSharedRunner(root, options)
  const name = options.name ?? (isApp(root) ? root.name : shared.agent.name)
  const description = options.description ?? shared.agent.description
  const longTermMemoryOf = () => options.memoryService
  const toolNames = knownToolNames(shared)
  checkPredictedTools(options, toolNames)
  return { name, description, options, runnerFor: () => shared, longTermMemoryOf, sessions, toolNames }
}

function createSharedRunner(
  root: Exclude<AdkRoot, (...args: never[]) => unknown>,
  options: AdkOptions,
): Runner {
  const { appName, plugins = [] } = options
  const services = servicesFrom(options)
  const own = isApp(root) ? root.plugins : []
  const named = isApp(root)
    ? { appName: root.name, agent: root.rootAgent }
    : { appName: typeof appName === 'string' ? appName : rootName(root), agent: root }
  const runner = createRunner({ ...services, ...named })
  checkServices(runner)
  return Object.defineProperty(runner, 'pluginManager', { value: new RunPluginManager([...own, ...plugins]) })
}

function createRunner(config: RunnerConfig): Runner {
  try {
    return new Runner(config)
  } catch (cause) {
    const reason = cause instanceof Error ? ` ADK says: ${cause.message}` : ''
    throw new MillraceError('INVALID_AGENT', rootAdvice + reason, { cause })
  }
}

const rootAdvice = '`fromAdk` takes an agent, a workflow or an app of ADK, or a function that makes a Runner.'

function rootName(root: unknown): string {
  const name: unknown = isRecord(root) ? root.name : undefined
  if (typeof name === 'string' && name !== '') return name
  throw invalidAgent(rootAdvice)
}

/**
 * Adds a MESSAGES_SNAPSHOT at the end: the messages that a client has made of the stream, with the same ids. An agent
 * below another one has no thread of its own, and adds none.
 */
async function* withMessagesSnapshot(
  events: AsyncGenerator<AgentEvent, Control>,
  { threadId, runId, messages, state, span }: RunContext,
): AsyncGenerator<AgentEvent, Control> {
  if (span.subagentRunId !== undefined) return yield* events
  const stream = createRunStream({ threadId, runId, messages, state, emit: () => undefined })
  let isOver = false
  try {
    for (;;) {
      const step = await events.next()
      isOver = step.done === true
      if (step.done === true) {
        yield { type: 'MESSAGES_SNAPSHOT', messages: [...countingMessages(stream.fold.messages)] }
        return step.value
      }
      stream.write(step.value)
      yield step.value
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    if (!isOver) await events.return({ type: 'cancelled' })
  }
}

type Services = Pick<
  RunnerConfig,
  'sessionService' | 'artifactService' | 'memoryService' | 'credentialService'
>

/** The given services; those that are missing are kept in memory, unless the options forbid it. */
function servicesFrom(options: AdkOptions): Services {
  const { sessionService, artifactService, memoryService, credentialService } = options
  if (options.inMemoryServices !== false)
    return {
      sessionService: sessionService ?? new RecentSessions({ memoryService }),
      artifactService: artifactService ?? new InMemoryArtifactService(),
      memoryService: memoryService ?? new InMemoryMemoryService(),
      credentialService: credentialService ?? new InMemoryCredentialService(),
    }
  if (!sessionService) throw missingService('sessionService', 'Every run')
  return {
    sessionService,
    ...(artifactService && { artifactService }),
    ...(memoryService && { memoryService }),
    ...(credentialService && { credentialService }),
  }
}

// ADK's own tools that do nothing, or fail in the middle of a run, without their service.
const neededBy: Readonly<Record<string, 'artifactService' | 'memoryService'>> = {
  load_artifacts: 'artifactService',
  load_memory: 'memoryService',
  preload_memory: 'memoryService',
}

/** Throws INVALID_AGENT when a tool of the tree needs a service that the Runner does not have. */
function checkServices(runner: Runner): void {
  for (const agent of indexAgents(runner.agent).agents) {
    for (const tool of isLlmAgent(agent) ? agent.tools : []) {
      const name = 'name' in tool ? tool.name : ''
      const service = Object.hasOwn(neededBy, name) ? neededBy[name] : undefined
      if (service && !runner[service])
        throw missingService(service, `The tool '${name}' of agent '${agent.name}'`)
    }
  }
}

function missingService(service: keyof Services, user: string): MillraceError {
  const message = `${user} needs \`${service}\`. Give it to \`fromAdk\`, or leave out \`inMemoryServices: false\`.`
  return invalidAgent(message)
}

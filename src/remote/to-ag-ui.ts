import { AbstractAgent, type AgentConfig, type BaseEvent } from '@ag-ui/client'
import type { AgentCapabilities, RunAgentInput } from '@ag-ui/core'
import { Observable, type Subscriber } from 'rxjs'
import {
  checkAgent,
  startCheckedRun,
  withAuthor,
  type Agent,
  type Checkpoint,
  type CheckpointStore,
  type Outcome,
  type RunOptions,
} from '../agents/index.js'
import {
  createDowngrade,
  hasLegacyAnswer,
  LaneOrder,
  legacyAnswers,
  parseRunInput,
  toVersion10,
  type AgUiEvent,
  type Downgrade,
  type FieldNote,
  type RunInput,
} from '../protocol/index.js'

type RunOptionName =
  | 'checkpoints'
  | 'identity'
  | 'values'
  | 'edit'
  | 'runTimeoutMs'
  | 'toolTimeoutMs'
  | 'graceMs'
  | 'onProblem'
  | 'newId'
  | 'clock'
type ClientOptionName = 'agentId' | 'description' | 'threadId' | 'initialMessages' | 'initialState' | 'debug'

/**
 * Options of `toAgUi`. `agentId` and `description` default to the agent's own. Without `checkpoints`, those of the last 1,000
 * interrupted threads are kept in memory, for this agent and all its clones.
 */
export interface ToAgUiOptions extends Pick<RunOptions, RunOptionName>, Pick<AgentConfig, ClientOptionName> {
  /**
   * The version of the clients that read the events. Clients before 1.0 fail on its new events; CopilotKit has one in the
   * browser. Default: by the input of each run.
   */
  readonly clients?: '1.0' | '0.0.59'
}

/**
 * Makes an `AbstractAgent` of an agent, run in this process: for the runtime of CopilotKit, and whatever else takes agents
 * of `@ag-ui/client`. A run that fails ends with RUN_ERROR, as from a server; only an invalid input fails the Observable.
 *
 * @example
 * const runtime = new CopilotRuntime({ agents: { concierge: toAgUi(concierge, { clients: '0.0.59' }) } })
 */
export function toAgUi(agent: Agent, options: ToAgUiOptions = {}): AbstractAgent {
  checkAgent(agent, 'The agent of `toAgUi`')
  return new LocalAgent(agent, options)
}

interface Parts {
  readonly agent: Agent
  readonly options: ToAgUiOptions & Required<Pick<ToAgUiOptions, 'checkpoints'>>
}

class LocalAgent extends AbstractAgent {
  // No private members: a clone is made without the constructor.
  readonly parts: Parts
  readonly active = new Set<AbortController>()

  constructor(agent: Agent, options: ToAgUiOptions) {
    super({ agentId: agent.name, description: agent.description, ...options })
    this.parts = {
      agent,
      options: { ...options, checkpoints: options.checkpoints ?? createMemoryCheckpoints() },
    }
  }

  override run(input: RunAgentInput): Observable<BaseEvent> {
    return new Observable<BaseEvent>((subscriber) => {
      const controller = new AbortController()
      this.active.add(controller)
      subscriber.add(() => {
        this.active.delete(controller)
        // The subscriber has left.
        controller.abort()
      })
      emitRun(this.parts, { input, controller, subscriber })
    })
  }

  override abortRun(): void {
    for (const controller of this.active) controller.abort()
  }

  override getCapabilities(): Promise<AgentCapabilities> {
    return Promise.resolve(capabilitiesOf(this.parts.agent))
  }

  override clone(): LocalAgent {
    const { parts } = this
    return Object.assign(super.clone() as LocalAgent, { parts, active: new Set<AbortController>() })
  }
}

interface Emission {
  readonly input: RunAgentInput
  readonly controller: AbortController
  readonly subscriber: Subscriber<BaseEvent>
}

/** Throws INVALID_INPUT or UNSUPPORTED_PROTOCOL for an input that cannot be run. */
function emitRun({ agent, options }: Parts, { input: raw, controller, subscriber }: Emission): void {
  const { input, peer, warnings } = parseRunInput(raw)
  const warn = ({ field, message }: FieldNote): void => options.onProblem?.(`${field}: ${message}`)
  for (const { field, message } of warnings) warn({ field: `input.${field}`, message })
  const isLegacy = options.clients === undefined ? peer.legacy : options.clients === '0.0.59'
  const translate = isLegacy ? createLegacyTranslation(warn) : toVersion10Only
  const emit = (event: AgUiEvent): undefined => {
    // The client's type has its own names for the same strings.
    for (const shown of translate(event)) subscriber.next(shown as unknown as BaseEvent)
  }
  // Copies: the client may write to them.
  const showState = (state: unknown): undefined =>
    emit({ type: 'STATE_SNAPSHOT', snapshot: structuredClone(state) })
  // Runtimes that keep runs, such as CopilotKit's, apply the deltas of a run to the snapshots of that run alone.
  let lacksSnapshot = true
  const send = (event: AgUiEvent): undefined => {
    if (event.type === 'STATE_DELTA' && lacksSnapshot) showState(input.state)
    if (event.type === 'STATE_DELTA' || event.type === 'STATE_SNAPSHOT') lacksSnapshot = false
    emit(event)
  }
  const end = (event: AgUiEvent, { state }: Outcome): undefined => {
    if (event.type === 'RUN_FINISHED') showState(state)
    emit(event)
  }
  const start = async (): Promise<void> => {
    const resume = await answersIn(input, options.checkpoints)
    await startCheckedRun(agent, { ...input, resume }, { ...options, controller, sink: { send, end } }).result
  }
  void start().then(() => subscriber.complete())
}

/** The client is of 1.0, whatever the input says. */
const toVersion10Only: Downgrade = (event) => [toVersion10(event)]

/** How much of the lanes that wait is kept, in characters. */
const maxWaiting = 1024 * 1024

/** The events that a client before 1.0 reads, with its lanes one by one, as from a server. */
function createLegacyTranslation(warn: (note: FieldNote) => void): Downgrade {
  const downgrade = createDowngrade({ warn, withAuthor })
  const order = new LaneOrder<AgUiEvent>({
    maxSize: maxWaiting,
    sizeOf: (event) => JSON.stringify(event).length,
  })
  return (event) => {
    const due: AgUiEvent[] = []
    order.take(event, event, due)
    return due.flatMap(downgrade)
  }
}

/** The answers of a request. Clients before 1.0 put them somewhere else. */
async function answersIn(input: RunInput, checkpoints: CheckpointStore): Promise<RunInput['resume']> {
  if (input.resume.length > 0 || !hasLegacyAnswer(input.forwardedProps)) return input.resume
  // A checkpoint that cannot be read fails the run.
  const saved = (await checkpoints.load(input.threadId).catch(() => undefined)) as Checkpoint | undefined
  const open = saved?.openInterrupts.map(({ interrupt }) => interrupt) ?? []
  return legacyAnswers(open, input.forwardedProps)
}

/** The agent's own capabilities, and those that every agent of the kit has. */
function capabilitiesOf({ name, description, capabilities = {} }: Agent): AgentCapabilities {
  return {
    ...capabilities,
    identity: { name, ...(description === '' ? {} : { description }), ...capabilities.identity },
    transport: { streaming: true, ...capabilities.transport },
    tools: { supported: true, clientProvided: true, ...capabilities.tools },
    state: { snapshots: true, deltas: true, ...capabilities.state },
    humanInTheLoop: { supported: true, interrupts: true, ...capabilities.humanInTheLoop },
  }
}

/** Keeps the checkpoints of the threads that were interrupted last, in memory. */
export function createMemoryCheckpoints(limit = 1000): CheckpointStore {
  const kept = new Map<string, Checkpoint>()
  return {
    load: (threadId) => Promise.resolve(kept.get(threadId)),
    save(threadId, checkpoint) {
      // A map keeps the order of insertion: the newest stands last.
      kept.delete(threadId)
      kept.set(threadId, checkpoint)
      for (const oldest of kept.keys()) {
        if (kept.size <= limit) break
        kept.delete(oldest)
      }
      return Promise.resolve()
    },
  }
}

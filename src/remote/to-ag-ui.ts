import { AbstractAgent, type AgentConfig, type BaseEvent } from '@ag-ui/client'
import type { AgentCapabilities, RunAgentInput } from '@ag-ui/core'
import { Observable, type Subscriber } from 'rxjs'
import { startRun, type Agent, type RunOptions } from '../agents/index.js'
import { createDowngrade, parseRunInput, type AgUiEvent } from '../protocol/index.js'
import { createMemoryCheckpoints } from './memory-checkpoints.js'

type OfTheRun =
  | 'checkpoints'
  | 'identity'
  | 'values'
  | 'edit'
  | 'toolTimeoutMs'
  | 'graceMs'
  | 'onProblem'
  | 'newId'
  | 'clock'
type OfTheClient = 'agentId' | 'description' | 'threadId' | 'initialMessages' | 'initialState' | 'debug'

/**
 * How an agent is shown as one of `@ag-ui/client`. `agentId` and `description` are the agent's own unless told. Without
 * `checkpoints` the pauses of the last 1,000 threads that asked are kept in memory, for this agent and all its clones.
 */
export interface ToAgUiOptions extends Pick<RunOptions, OfTheRun>, Pick<AgentConfig, OfTheClient> {
  /**
   * Who reads the events in the end. Clients before 1.0 fail on what is new in it; CopilotKit has one in the browser.
   * Default: what the input of a run says of itself.
   */
  readonly clients?: '1.0' | '0.0.59'
}

/**
 * Makes an `AbstractAgent` of an agent, run in this process: for the runtime of CopilotKit, and whatever else takes agents
 * of `@ag-ui/client`. A run never fails its Observable: a failure is a RUN_ERROR, as from a server. Only an input that is
 * none does.
 *
 * @example
 * const runtime = new CopilotRuntime({ agents: { concierge: toAgUi(concierge, { clients: '0.0.59' }) } })
 */
export function toAgUi(agent: Agent, options: ToAgUiOptions = {}): AbstractAgent {
  return new LocalAgent(agent, options)
}

interface Parts {
  readonly agent: Agent
  readonly options: ToAgUiOptions & Required<Pick<ToAgUiOptions, 'checkpoints'>>
}

class LocalAgent extends AbstractAgent {
  // No private names: a clone is made without the constructor.
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
        // Nobody is there to read it any more.
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

/** Throws INVALID_INPUT or UNSUPPORTED_PROTOCOL when nothing can be run. */
function emitRun({ agent, options }: Parts, { input: given, controller, subscriber }: Emission): void {
  const { input, peer, warnings } = parseRunInput(given)
  for (const { field, message } of warnings) options.onProblem?.(`input.${field}: ${message}`)
  const isLegacy = options.clients === undefined ? peer.legacy : options.clients === '0.0.59'
  const downgrade = isLegacy ? createDowngrade() : undefined
  const send = (event: AgUiEvent): undefined => {
    const shown = downgrade ? downgrade(event) : event
    // The client's type has its own names for the same strings.
    if (shown) subscriber.next(shown as unknown as BaseEvent)
  }
  const started = startRun(agent, input, { ...options, controller, sink: { send, end: send } })
  void started.result.then(() => subscriber.complete())
}

/** What every agent gets from the kit, and what it says of itself. */
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

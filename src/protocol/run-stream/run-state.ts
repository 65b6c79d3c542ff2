import type { AgUiEvent } from '../events.js'
import { createFold, type Fold } from '../fold/fold.js'
import { createLane } from './lanes.js'
import type { RunStreamOptions } from './run-stream.js'
import type { Run } from './run.js'

type RunStateOptions = Pick<
  RunStreamOptions,
  'messages' | 'state' | 'emit' | 'readState' | 'onProblem' | 'newId'
>

/** What a run knows. Much of it is about what most runs do not have, and is made when it is first asked for. */
export class RunState implements Run {
  readonly fold: Fold
  readonly root = createLane({ key: 0, tag: undefined, id: undefined, name: '', parent: undefined })
  readonly messages: Run['messages'] = new MessageItems()
  readonly claimed = new Set<string>()
  readonly newId: () => string
  readonly readState: (() => unknown) | undefined
  renamed: Run['renamed']
  readonly #emit: RunStateOptions['emit']
  readonly #onProblem: RunStateOptions['onProblem']
  #openLanes: Run['openLanes'] | undefined
  #laneIds: Run['laneIds'] | undefined
  #lanes: Run['lanes'] | undefined
  #calls: Run['calls'] | undefined
  #pastCalls: Run['pastCalls'] | undefined
  #reasoningOwners: Run['reasoningOwners'] | undefined
  #activities: Run['activities'] | undefined

  constructor(options: RunStateOptions) {
    const { messages = [], state, readState, newId = () => crypto.randomUUID() } = options
    this.#emit = options.emit
    this.#onProblem = options.onProblem
    this.fold = createFold({ messages, state })
    this.newId = newId
    this.readState = readState
  }

  get openLanes(): Run['openLanes'] {
    return (this.#openLanes ??= new Set())
  }

  get laneIds(): Run['laneIds'] {
    return (this.#laneIds ??= new Set())
  }

  get lanes(): Run['lanes'] {
    return (this.#lanes ??= new Map())
  }

  get calls(): Run['calls'] {
    return (this.#calls ??= new Map())
  }

  get pastCalls(): Run['pastCalls'] {
    return (this.#pastCalls ??= new Set())
  }

  get reasoningOwners(): Run['reasoningOwners'] {
    return (this.#reasoningOwners ??= new Map())
  }

  get activities(): Run['activities'] {
    return (this.#activities ??= new Map())
  }

  emit(event: AgUiEvent): void {
    this.fold.apply(event)
    this.#emit(event)
  }

  tryEmit(event: AgUiEvent): string | undefined {
    const problem = this.fold.apply(event)
    if (problem === undefined) this.#emit(event)
    return problem
  }

  report(problem: string): void {
    this.#onProblem?.(problem)
  }
}

class MessageItems {
  readonly text: Run['messages']['text'] = new Map()
  #reasoning: Run['messages']['reasoning'] | undefined

  get reasoning(): Run['messages']['reasoning'] {
    return (this.#reasoning ??= new Map())
  }
}

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
  readonly messages: Run['messages'] = { text: new Map(), reasoning: new Map() }
  readonly claimed = new Set<string>()
  readonly newId: () => string
  readonly readState: (() => unknown) | undefined
  readonly #options: RunStateOptions
  #openLanes: Run['openLanes'] | undefined
  #laneIds: Run['laneIds'] | undefined
  #lanes: Run['lanes'] | undefined
  #renamed: Run['renamed'] | undefined
  #calls: Run['calls'] | undefined
  #pastCalls: Run['pastCalls'] | undefined
  #reasoningOwners: Run['reasoningOwners'] | undefined
  #activities: Run['activities'] | undefined

  constructor(options: RunStateOptions) {
    const { messages = [], state, readState, newId = () => crypto.randomUUID() } = options
    this.#options = options
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

  get renamed(): Run['renamed'] {
    return (this.#renamed ??= new Map())
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
    this.#options.emit(event)
  }

  tryEmit(event: AgUiEvent): string | undefined {
    const problem = this.fold.apply(event)
    if (problem === undefined) this.#options.emit(event)
    return problem
  }

  report(problem: string): void {
    this.#options.onProblem?.(problem)
  }
}

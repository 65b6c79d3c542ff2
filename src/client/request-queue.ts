import type { Message } from '@ag-ui/core'
import type { MillraceError } from '../core/errors.js'
import type { IdSource } from '../core/ids.js'
import { executeTool } from './client-tools.js'
import type { PendingCall, RunResult, ThreadOptions } from './contract.js'
import {
  createRequest,
  failedRequest,
  hasArrived,
  resultOf,
  threadClosed,
  type NewRequest,
  type QueuedRequest,
} from './queued-request.js'
import type { ThreadView } from './thread-view.js'

export interface QueueSetup {
  readonly view: ThreadView
  readonly options: ThreadOptions
  readonly newId: IdSource
  /** Called when the thread may have changed, and to show it at once. */
  readonly onChange: () => void
  readonly publish: () => void
}

const maxToolRounds = 32

/** What is to be sent, what is under way, and what becomes of it. A run that waits for tools of this client goes on with their results. */
export class RequestQueue {
  /** Why the latest request failed. */
  error: MillraceError | undefined
  /** The messages that wait to be sent. */
  messages: readonly Message[] = []
  /** The request whose run the server has begun. */
  current: QueuedRequest | undefined
  isClosed = false
  readonly #setup: QueueSetup
  readonly #onAdd: () => void
  #requests: readonly QueuedRequest[] = []
  #tools = new AbortController()

  constructor(setup: QueueSetup, onAdd: () => void) {
    this.#setup = setup
    this.#onAdd = onAdd
  }

  get first(): QueuedRequest | undefined {
    return this.#requests[0]
  }

  /** Whether a run is on its way, or waits. */
  get hasRun(): boolean {
    return this.current !== undefined || this.#requests.some(({ patch }) => patch === undefined)
  }

  add(given: NewRequest): Promise<RunResult> {
    return new Promise((resolve) => {
      const request = createRequest(this.#setup.newId('run'), given, resolve)
      if (this.isClosed) return request.resolve(failedRequest(request, threadClosed()))
      this.error = undefined
      this.#set([...this.#requests, request])
      this.#onAdd()
    })
  }

  /** The server has begun the run of a request. */
  accept(request: QueuedRequest): void {
    this.current = request
    this.#remove(request)
    if (request.isNew) this.#setup.view.content.addSent(request.messages)
  }

  /** The thread is at rest: what was sent has been answered, or is to be sent again. */
  settle(): void {
    const { view } = this.#setup
    const { current } = this
    this.current = undefined
    if (current) this.finish(current, resultOf(current, view))
    const { first } = this
    if (!first?.mustCheck) return
    if (hasArrived(first, view)) this.finish(first, resultOf(first, view))
    else if (view.version !== undefined) first.mustCheck = false
  }

  /** Ends a request whose run is over, unless this client has tools to run for it. */
  finish(request: QueuedRequest, result: RunResult): void {
    this.#remove(request)
    const mayRun = result.status === 'waiting-for-tools' && request.round < maxToolRounds
    if (mayRun && this.#executable().length > 0) void this.#executeTools(request)
    else this.#end(request, result)
  }

  refuse(request: QueuedRequest, error: MillraceError): void {
    this.#remove(request)
    this.#end(request, failedRequest(request, error))
  }

  refuseAll(error: MillraceError): void {
    const all = [...(this.current ? [this.current] : []), ...this.#requests]
    this.current = undefined
    this.#set([])
    for (const request of all) this.#end(request, failedRequest(request, error))
  }

  /** Drops what waits to be sent. */
  cancelAll(): void {
    const dropped = this.#requests
    this.#set([])
    for (const request of dropped) this.#end(request, { runId: request.runId, status: 'cancelled' })
  }

  async runTools(): Promise<RunResult | undefined> {
    if (this.#executable().length === 0) return undefined
    return new Promise((resolve) => void this.#executeTools({ round: 0, resolve }))
  }

  /** Returns a signal that aborts when they are stopped again. */
  stopTools(): AbortSignal {
    this.#tools.abort()
    this.#tools = new AbortController()
    return this.#tools.signal
  }

  close(): void {
    this.isClosed = true
    this.#tools.abort()
    this.refuseAll(threadClosed())
  }

  #set(requests: readonly QueuedRequest[]): void {
    this.#requests = requests
    this.messages = requests.flatMap(({ messages, isNew }) => (isNew ? messages : []))
    this.#setup.onChange()
  }

  #remove(request: QueuedRequest): void {
    this.#set(this.#requests.filter((other) => other !== request))
  }

  #end(request: QueuedRequest, result: RunResult): void {
    if (result.error) this.error = result.error
    this.#setup.publish()
    request.resolve(result)
  }

  #executable(): readonly PendingCall[] {
    const { tools = {} } = this.#setup.options
    return this.#setup.view.pendingToolCalls.filter(
      ({ name }) => Object.hasOwn(tools, name) && tools[name]?.execute,
    )
  }

  async #executeTools({ round, resolve }: Pick<QueuedRequest, 'round' | 'resolve'>): Promise<void> {
    const { options, newId } = this.#setup
    const { signal } = this.#tools
    const calls = this.#executable()
    const results = await Promise.all(
      calls.map((call) => executeTool(options.tools?.[call.name], call, signal)),
    )
    if (signal.aborted) {
      resolve({ runId: '', status: 'cancelled' })
      return
    }
    const messages = results.map((result): Message => ({ id: newId('message'), role: 'tool', ...result }))
    void this.add({ messages, round: round + 1, resolve })
  }
}

import type { JsonPatchOperation, Message } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import type { IdSource } from '../core/ids.js'
import { isRecord } from '../core/json.js'
import { executeTool, offeredTools } from './client-tools.js'
import type { RunResult, ThreadOptions, ThreadSnapshot } from './contract.js'
import { brokenStream, isBrokenStream, openEventStream, streamEnded } from './event-stream.js'
import { isUnreadable, toFailure, type Http, type RequestFailure } from './http.js'
import {
  createRequest,
  failedRequest,
  hasArrived,
  resultOf,
  threadClosed,
  type NewRequest,
  type QueuedRequest,
} from './queued-request.js'
import type { Backoff } from './retry.js'
import type { StreamedEvent, ThreadView } from './thread-view.js'

export interface SyncSetup {
  readonly http: Http
  readonly backoff: Backoff
  readonly view: ThreadView
  readonly agent: string
  readonly threadId: string
  readonly options: ThreadOptions
  readonly newId: IdSource
  /** Whether anybody wants to see the thread. */
  readonly isFollowed: () => boolean
  /** Called when the thread may have changed, and to show it at once. */
  readonly onChange: () => void
  readonly publish: () => void
}

/** The version of AG-UI that this client speaks. */
const protocolVersion = '1.1'
const maxToolRounds = 32
const cancelAttempts = 5

/**
 * Keeps a view in step with the server, and sends. Opens at most one stream at a time: that of its own run, or else one that
 * follows the thread.
 */
export class ThreadSync {
  connection: ThreadSnapshot['connection'] = 'closed'
  error: MillraceError | undefined
  /** The messages that wait to be sent. */
  queued: readonly Message[] = []
  readonly #setup: SyncSetup
  #queue: readonly QueuedRequest[] = []
  /** The request that is on its way, and the one whose run the server has begun. */
  #sending: QueuedRequest | undefined
  #current: QueuedRequest | undefined
  /** Ends the open stream, or the wait for the next one. */
  #stream: AbortController | undefined
  #tools = new AbortController()
  #isLooping = false
  #isClosed = false
  /** The server refuses this client. Only a new wish makes it try again. */
  #isRefused = false

  constructor(setup: SyncSetup) {
    this.#setup = setup
  }

  /** Whether a run is on its way, or waits. */
  get isBusy(): boolean {
    return this.#current !== undefined || this.#queue.some(({ patch }) => patch === undefined)
  }

  /** Somebody wants something of the server. */
  want(): void {
    this.#isRefused = false
    this.review()
    if (this.#isLooping) return
    this.#isLooping = true
    void this.#loop()
  }

  /** Ends the open stream when nobody needs it any more, or when something is to be sent. */
  review(): void {
    if (!this.#sending && this.#isStreamOver()) this.#stream?.abort()
  }

  add(given: NewRequest): Promise<RunResult> {
    return new Promise((resolve) => {
      const request = createRequest(this.#setup.newId('run'), given, resolve)
      if (this.#isClosed) return request.resolve(failedRequest(request, threadClosed()))
      this.error = undefined
      this.#setQueue([...this.#queue, request])
      this.want()
    })
  }

  async runTools(): Promise<RunResult | undefined> {
    if (this.#executable().length === 0) return undefined
    return new Promise((resolve) => void this.#executeTools({ round: 0, resolve }))
  }

  async stop(): Promise<void> {
    const { view } = this.#setup
    const runId = this.#current?.runId ?? (view.isRunning ? view.runId : this.#sending?.runId)
    this.#tools.abort()
    this.#tools = new AbortController()
    const dropped = this.#queue
    this.#setQueue([])
    if (this.#sending && this.#sending !== this.#current) {
      // It may have arrived.
      view.forget()
      this.#stream?.abort()
    }
    for (const request of dropped) this.#end(request, { runId: request.runId, status: 'cancelled' })
    if (runId !== undefined) await this.#cancel(runId)
  }

  close(): void {
    this.#isClosed = true
    this.#tools.abort()
    this.#stream?.abort()
    this.#endAll(threadClosed())
  }

  noteError(error: MillraceError): void {
    this.error = error
    this.#setup.onChange()
  }

  async #cancel(runId: string): Promise<void> {
    const { http, backoff, threadId } = this.#setup
    const { signal } = this.#tools
    for (let attempt = 1; ; attempt++) {
      try {
        await http.send({ method: 'POST', path: this.#path('/cancel'), body: { threadId, runId } })
        return
      } catch (error) {
        const failure = toFailure(error)
        // It has ended meanwhile.
        if (failure.error.status === 404) return
        if (!failure.isPassing || attempt === cancelAttempts || this.#isClosed) {
          this.noteError(failure.error)
          return
        }
        await backoff.wait(signal, failure.retryAfterMs)
      }
    }
  }

  #setQueue(queue: readonly QueuedRequest[]): void {
    this.#queue = queue
    this.queued = queue.flatMap(({ messages, isNew }) => (isNew ? messages : []))
    this.#setup.onChange()
  }

  #remove(request: QueuedRequest): void {
    this.#setQueue(this.#queue.filter((other) => other !== request))
  }

  #isWanted(): boolean {
    const hasWork = this.#setup.isFollowed() || this.#queue.length > 0 || this.#current !== undefined
    return hasWork && !this.#isClosed && !this.#isRefused
  }

  #nextToSend(): QueuedRequest | undefined {
    const [next] = this.#queue
    return next && !next.mustCheck && !this.#current && !this.#setup.view.isRunning ? next : undefined
  }

  #isStreamOver(): boolean {
    return !this.#isWanted() || this.#nextToSend() !== undefined
  }

  /** Sends and follows in turn, as long as anybody wants it. Never rejects. */
  async #loop(): Promise<void> {
    while (this.#isWanted()) {
      const next = this.#nextToSend()
      const stream = new AbortController()
      this.#stream = stream
      this.#setup.view.open()
      if (this.connection !== 'retrying') this.#setConnection('connecting')
      try {
        if (next?.patch) await this.#sendPatch(next, next.patch, stream.signal)
        else if (next) await this.#sendRun(next, stream.signal)
        else await this.#follow(stream.signal)
      } catch (error) {
        if (!stream.signal.aborted) await this.#recover(toFailure(error), next, stream.signal)
      } finally {
        this.#sending = undefined
      }
    }
    this.#isLooping = false
    this.#setConnection('closed')
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { http, threadId, view } = this.#setup
    const { version, lastEventId } = view
    const events = openEventStream(http, {
      ...{ method: 'POST', path: this.#path('/follow'), signal, onOpen: () => this.#setConnection('open') },
      body: { threadId, protocolVersion, ...(version === undefined ? {} : { version }) },
      ...(lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } }),
    })
    for await (const item of events) {
      if (isBrokenStream(item)) throw brokenStream(item)
      this.#take(item, false)
      if (this.#isStreamOver()) return
    }
    throw streamEnded()
  }

  async #sendRun(request: QueuedRequest, signal: AbortSignal): Promise<void> {
    this.#sending = request
    const { http, view } = this.#setup
    const events = openEventStream(http, {
      ...{ method: 'POST', path: this.#path('/run'), signal, onOpen: () => this.#setConnection('open') },
      body: this.#inputOf(request),
      headers: { 'millrace-reconnects': 'true', 'millrace-version': String(view.version ?? 0) },
    })
    for await (const item of events) {
      const isAccepted = this.#current === request
      if (isBrokenStream(item) && isAccepted) throw brokenStream(item)
      if (isBrokenStream(item)) {
        this.#refuse(request, brokenStream(item).error)
        return
      }
      if (!isAccepted) this.#accept(request)
      this.#take(item, true)
      if (!this.#current) return
    }
    throw streamEnded()
  }

  async #sendPatch(
    request: QueuedRequest,
    patch: readonly JsonPatchOperation[],
    signal: AbortSignal,
  ): Promise<void> {
    const { http, view, threadId } = this.#setup
    const delta = [...patch]
    const done: RunResult = { runId: request.runId, status: 'completed' }
    if (view.version === 0) {
      // The thread is made by its first message, which takes the state along.
      const problem = view.patch(delta)
      if (problem !== undefined) this.#refuse(request, new MillraceError('INVALID_PATCH', problem))
      else this.#finish(request, done)
      return
    }
    this.#sending = request
    const path = this.#path(`/state/${encodeURIComponent(threadId)}`)
    const response = await http.send({ method: 'PATCH', path, body: delta, signal })
    const answer: unknown = await response.json()
    const version = isRecord(answer) ? Number(answer.version) : undefined
    const isNext = view.version !== undefined && version === view.version + 1
    if (isNext && view.patch(delta) === undefined) view.version = version
    else view.forget()
    this.#finish(request, done)
  }

  #inputOf({ runId, messages, resume }: QueuedRequest): object {
    const { options, threadId, view } = this.#setup
    const { tools = {}, context, forwardedProps } = options
    const { state } = view.snapshot()
    const hasOwnState = view.version === 0 && isRecord(state) && Object.keys(state).length > 0
    return {
      ...{ threadId, runId, protocolVersion, messages, tools: offeredTools(tools) },
      context: context?.() ?? [],
      ...(resume.length > 0 ? { resume } : {}),
      ...(hasOwnState ? { state } : {}),
      ...(forwardedProps ? { forwardedProps: forwardedProps() } : {}),
    }
  }

  /** The server has begun the run of a request. */
  #accept(request: QueuedRequest): void {
    this.#current = request
    this.#remove(request)
    if (request.isNew) this.#setup.view.addSent(request.messages)
  }

  #take(item: StreamedEvent, isOwn: boolean): void {
    const { view, backoff, options, onChange } = this.#setup
    if (!view.apply(item, isOwn)) return
    backoff.reset()
    options.onEvent?.(item.event)
    onChange()
    const { type } = item.event
    if (type === 'RUN_FINISHED' || type === 'RUN_ERROR') this.#settle()
  }

  /** The thread is at rest: what was sent has been answered, or is to be sent again. */
  #settle(): void {
    const { view } = this.#setup
    const current = this.#current
    this.#current = undefined
    if (current) this.#finish(current, resultOf(current, view))
    const [next] = this.#queue
    if (!next?.mustCheck) return
    if (hasArrived(next, view)) this.#finish(next, resultOf(next, view))
    else if (view.version !== undefined) next.mustCheck = false
  }

  /** Ends a request whose run is over, unless this client has tools to run for it. */
  #finish(request: QueuedRequest, result: RunResult): void {
    this.#remove(request)
    const mayRun = result.status === 'waiting-for-tools' && request.round < maxToolRounds
    if (mayRun && this.#executable().length > 0) void this.#executeTools(request)
    else this.#end(request, result)
  }

  #refuse(request: QueuedRequest, error: MillraceError): void {
    this.#remove(request)
    this.#end(request, failedRequest(request, error))
  }

  #end(request: QueuedRequest, result: RunResult): void {
    if (result.error) this.error = result.error
    this.#setup.publish()
    request.resolve(result)
  }

  #endAll(error: MillraceError): void {
    const all = [...(this.#current ? [this.#current] : []), ...this.#queue]
    this.#current = undefined
    this.#setQueue([])
    for (const request of all) this.#end(request, failedRequest(request, error))
  }

  #executable() {
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

  /** Decides what to do after a request has failed, and waits if it is worth another. */
  async #recover(
    failure: RequestFailure,
    request: QueuedRequest | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { view, backoff } = this.#setup
    const { error, isPassing } = failure
    if (request && this.#current !== request) {
      const isLocked = error.code === 'THREAD_IS_LOCKED'
      // A patch may not be applied twice, and nothing tells whether this one was.
      const isLostPatch = request.patch !== undefined && failure.isUncertain
      if (isLocked || failure.isUncertain) view.forget()
      if (isLostPatch || (!isLocked && !isPassing)) {
        this.#refuse(request, error)
        return
      }
      request.mustCheck = isLocked || failure.isUncertain
      if (isLocked) return
    } else if (!isPassing && (error.status < 500 || isUnreadable(error))) {
      this.#isRefused = true
      this.error = error
      this.#endAll(error)
      return
    }
    this.#sending = undefined
    this.#setConnection('retrying')
    await backoff.wait(signal, failure.retryAfterMs)
  }

  #path(route: string): string {
    return `/agents/${encodeURIComponent(this.#setup.agent)}${route}`
  }

  #setConnection(connection: ThreadSnapshot['connection']): void {
    if (connection === this.connection) return
    this.connection = connection
    this.#setup.onChange()
  }
}

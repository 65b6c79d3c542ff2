import type { JsonPatchOperation } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import type { RunResult, ThreadSnapshot } from './contract.js'
import { brokenStream, isBrokenStream, openEventStream, streamEnded } from './event-stream.js'
import { isUnreadable, toFailure, type Http, type RequestFailure } from './http.js'
import type { QueuedRequest } from './queued-request.js'
import { RequestQueue, type QueueSetup } from './request-queue.js'
import type { Backoff } from './retry.js'
import { protocolVersion, toRunInput } from './run-input.js'
import type { StreamedEvent } from './thread-view.js'

export interface SyncSetup extends QueueSetup {
  readonly http: Http
  readonly backoff: Backoff
  readonly agent: string
  readonly threadId: string
  /** Whether anybody wants to see the thread. */
  readonly isFollowed: () => boolean
}

const cancelAttempts = 5

/**
 * Keeps a view in step with the server, and sends what is queued. Opens at most one stream at a time: that of its own run, or
 * else one that follows the thread.
 */
export class ThreadSync {
  connection: ThreadSnapshot['connection'] = 'closed'
  readonly queue: RequestQueue
  readonly #setup: SyncSetup
  /** The request that is on its way. */
  #sending: QueuedRequest | undefined
  /** Ends the open stream, or the wait for the next one. */
  #stream: AbortController | undefined
  #isLooping = false
  /** The server refuses this client. Only a new wish makes it try again. */
  #isRefused = false

  constructor(setup: SyncSetup) {
    this.#setup = setup
    this.queue = new RequestQueue(setup, () => this.want())
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

  async stop(): Promise<void> {
    const { view } = this.#setup
    const { queue } = this
    const runId = queue.current?.runId ?? (view.isRunning ? view.runId : this.#sending?.runId)
    const signal = queue.stopTools()
    if (this.#sending && this.#sending !== queue.current) {
      // It may have arrived.
      view.forget()
      this.#stream?.abort()
    }
    queue.cancelAll()
    if (runId !== undefined) await this.#cancel(runId, signal)
  }

  close(): void {
    this.#stream?.abort()
    this.queue.close()
  }

  noteError(error: MillraceError): void {
    this.queue.error = error
    this.#setup.onChange()
  }

  async #cancel(runId: string, signal: AbortSignal): Promise<void> {
    const { http, backoff, threadId } = this.#setup
    for (let attempt = 1; ; attempt++) {
      try {
        await http.send({ method: 'POST', path: this.#path('/cancel'), body: { threadId, runId } })
        return
      } catch (error) {
        const failure = toFailure(error)
        // It has ended meanwhile.
        if (failure.error.status === 404) return
        if (!failure.isPassing || attempt === cancelAttempts || this.queue.isClosed) {
          this.noteError(failure.error)
          return
        }
        await backoff.wait(signal, failure.retryAfterMs)
      }
    }
  }

  #isWanted(): boolean {
    const hasWork =
      this.#setup.isFollowed() || this.queue.first !== undefined || this.queue.current !== undefined
    return hasWork && !this.queue.isClosed && !this.#isRefused
  }

  #nextToSend(): QueuedRequest | undefined {
    const { first: next, current } = this.queue
    return next && !next.mustCheck && !current && !this.#setup.view.isRunning ? next : undefined
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
      body: toRunInput(request, this.#setup),
      headers: { 'millrace-reconnects': 'true', 'millrace-version': String(view.version ?? 0) },
    })
    for await (const item of events) {
      const isAccepted = this.queue.current === request
      if (isBrokenStream(item) && isAccepted) throw brokenStream(item)
      if (isBrokenStream(item)) {
        this.queue.refuse(request, brokenStream(item).error)
        return
      }
      if (!isAccepted) this.queue.accept(request)
      this.#take(item, true)
      if (!this.queue.current) return
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
      const problem = view.content.patch(delta)
      if (problem !== undefined) this.queue.refuse(request, new MillraceError('INVALID_PATCH', problem))
      else this.queue.finish(request, done)
      return
    }
    this.#sending = request
    const path = this.#path(`/state/${encodeURIComponent(threadId)}`)
    const response = await http.send({ method: 'PATCH', path, body: delta, signal })
    const answer: unknown = await response.json()
    const version = isRecord(answer) ? Number(answer.version) : undefined
    const isNext = view.version !== undefined && version === view.version + 1
    if (isNext && view.content.patch(delta) === undefined) view.version = version
    else view.forget()
    this.queue.finish(request, done)
  }

  #take(item: StreamedEvent, isOwn: boolean): void {
    const { view, backoff, options, onChange } = this.#setup
    if (!view.apply(item, isOwn)) return
    backoff.reset()
    options.onEvent?.(item.event)
    onChange()
    const { type } = item.event
    if (type === 'RUN_FINISHED' || type === 'RUN_ERROR') this.queue.settle()
  }

  /** Decides what to do after a request has failed, and waits if it is worth another. */
  async #recover(
    failure: RequestFailure,
    request: QueuedRequest | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { view, backoff } = this.#setup
    const { error, isPassing } = failure
    if (request && this.queue.current !== request) {
      // Another tab was faster.
      const isLocked = error.code === 'THREAD_IS_LOCKED' || error.code === 'VERSION_CONFLICT'
      // A patch may not be applied twice, and nothing tells whether this one was.
      const isLostPatch = request.patch !== undefined && failure.isUncertain
      if (isLocked || failure.isUncertain) view.forget()
      if (isLostPatch || (!isLocked && !isPassing)) {
        this.queue.refuse(request, error)
        return
      }
      request.mustCheck = isLocked || failure.isUncertain
      if (isLocked) return
    } else if (!isPassing && (error.status < 500 || isUnreadable(error))) {
      this.#isRefused = true
      this.queue.error = error
      this.queue.refuseAll(error)
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

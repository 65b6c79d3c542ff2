import type { ContentPart, JsonPatchOperation, Message, ResumeEntry, UserMessage } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import { randomIds, type IdSource } from '../core/ids.js'
import { isRecord } from '../core/json.js'
import { executeTool, offeredTools, toResultText } from './client-tools.js'
import type {
  Answer,
  ClientOptions,
  PatchResult,
  RunResult,
  Thread,
  ThreadOptions,
  ThreadSnapshot,
} from './contract.js'
import { openEventStream } from './event-stream.js'
import { networkError, RequestFailure, toClientError, type Http } from './http.js'
import { createBackoff, type Backoff } from './retry.js'
import { ThreadView, type StreamedEvent } from './thread-view.js'

/** Something to send. The first of the outbox is sent when no run is live. */
interface Entry {
  readonly runId: string
  readonly messages: readonly Message[]
  readonly resume: readonly ResumeEntry[]
  readonly patch?: readonly JsonPatchOperation[]
  /** Whether the messages are new to the thread: then they are shown at once. */
  readonly isNew: boolean
  /** Whether the server may have got it, or another run was live: the thread decides if it is sent again. */
  mustCheck: boolean
  /** How many rounds of client tools led to it. */
  readonly round: number
  readonly resolve: (result: RunResult) => void
}

const maxToolRounds = 32
const cancelAttempts = 5

/** Creates a thread. It opens at most one stream at a time: that of its own run, or else one that follows the thread. */
export function createThread(
  http: Http,
  client: ClientOptions,
  setup: ThreadOptions & { readonly agent: string; readonly threadId: string | undefined },
): Thread {
  return new ClientThread(http, client, setup)
}

class ClientThread implements Thread {
  readonly agent: string
  readonly threadId: string
  readonly #http: Http
  readonly #options: ThreadOptions
  readonly #newId: IdSource
  readonly #backoff: Backoff
  readonly #view: ThreadView
  readonly #listeners = new Set<() => void>()
  #outbox: readonly Entry[] = []
  /** The entry whose request is on its way, and the one whose run the server has begun. */
  #sending: Entry | undefined
  #current: Entry | undefined
  /** Ends the open stream, or the wait for the next one. */
  #stream: AbortController | undefined
  #tools = new AbortController()
  #isLooping = false
  #isClosed = false
  /** The server refuses this client. Only a new wish makes it ask again. */
  #isRefused = false
  #connection: ThreadSnapshot['connection'] = 'closed'
  #queued: readonly Message[] = []
  #error: MillraceError | undefined
  #snapshot: ThreadSnapshot
  #cancelNotify: (() => void) | undefined

  constructor(
    http: Http,
    client: ClientOptions,
    { agent, threadId, ...options }: ThreadOptions & { agent: string; threadId: string | undefined },
  ) {
    this.agent = agent
    this.#http = http
    this.#options = options
    this.#newId = client.newId ?? randomIds
    this.threadId = threadId ?? this.#newId('thread')
    this.#backoff = createBackoff(http.clock, client)
    // Nobody else knows a new thread.
    this.#view = new ThreadView(threadId === undefined ? 0 : undefined)
    this.#snapshot = this.#toSnapshot()
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    // The same function may subscribe twice.
    const own = (): void => listener()
    this.#listeners.add(own)
    this.#want()
    return () => {
      this.#listeners.delete(own)
      // Not at once: a component that is mounted again keeps the stream.
      this.#http.clock.schedule(0, () => this.#review())
    }
  }

  readonly getSnapshot = (): ThreadSnapshot => this.#snapshot

  send(content: string | readonly ContentPart[]): Promise<RunResult> {
    const message = this.#userMessage(content)
    const problem = this.#openInterruptsProblem()
    return problem ? this.#refused(problem) : this.#add({ messages: [message] })
  }

  resume(answers: readonly Answer[]): Promise<RunResult> {
    const given = new Set(answers.map(({ interruptId }) => interruptId))
    const missing = this.#view.interrupts.filter(({ id }) => !given.has(id))
    if (missing.length > 0) {
      const names = missing.map(({ id }) => id).join(', ')
      return this.#refused(new MillraceError('INVALID_RESUME', `Answer all open interrupts: ${names} too.`))
    }
    return this.#add({ resume: answers.map((answer) => ({ status: 'resolved', ...answer })) })
  }

  answerTool(toolCallId: string, result: unknown): Promise<RunResult> {
    return this.#add({ messages: [this.#toolMessage({ toolCallId, content: toResultText(result) })] })
  }

  async runTools(): Promise<RunResult | undefined> {
    if (this.#executable().length === 0) return undefined
    return new Promise((resolve) => void this.#executeTools({ round: 0, resolve }))
  }

  edit(messageId: string, content: string | readonly ContentPart[]): Promise<RunResult> {
    const message = this.#view.messages.find(({ id }) => id === messageId)
    if (message?.role !== 'user') return this.#refused(unknownMessage(messageId))
    return this.#add({ messages: [{ ...message, content: toContent(content) }], isNew: false })
  }

  regenerate(messageId?: string): Promise<RunResult> {
    const { messages } = this.#view
    const end =
      messageId === undefined ? messages.length : messages.findIndex(({ id }) => id === messageId) + 1
    const last = messages.slice(0, end).findLastIndex(({ role }) => role === 'user')
    if (last === -1) return this.#refused(unknownMessage(messageId ?? ''))
    const kept = messages.slice(0, last + 1).filter(({ role }) => role !== 'activity')
    return this.#add({ messages: kept, isNew: false })
  }

  async patchState(patch: readonly JsonPatchOperation[]): Promise<PatchResult> {
    const { status, error } = await this.#add({ patch })
    return { status: status === 'completed' ? status : 'failed', ...(error && { error }) }
  }

  async stop(): Promise<void> {
    const sending = this.#sending
    const runId = this.#current?.runId ?? (this.#view.isRunning ? this.#view.runId : sending?.runId)
    this.#tools.abort()
    this.#tools = new AbortController()
    const dropped = this.#outbox
    this.#setOutbox([])
    if (sending) {
      this.#view.forget()
      this.#stream?.abort()
    }
    for (const entry of dropped) this.#end(entry, { runId: entry.runId, status: 'cancelled' })
    if (runId !== undefined) await this.#cancel(runId)
  }

  close(): void {
    this.#isClosed = true
    this.#tools.abort()
    this.#stream?.abort()
    const error = new MillraceError('RUN_CANCELLED', 'The thread was closed.')
    this.#endAll(error)
    this.#listeners.clear()
  }

  async #cancel(runId: string): Promise<void> {
    const { signal } = this.#tools
    const body = { threadId: this.threadId, runId }
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#http.send({ method: 'POST', path: this.#path('/cancel'), body })
        return
      } catch (error) {
        const failure = toFailure(error)
        // It has ended meanwhile.
        if (failure.error.status === 404) return
        if (!failure.isPassing || attempt === cancelAttempts || this.#isClosed) {
          this.#error = failure.error
          this.#changed()
          return
        }
        await this.#backoff.wait(signal, failure.retryAfterMs)
      }
    }
  }

  #openInterruptsProblem(): MillraceError | undefined {
    const { length } = this.#view.interrupts
    if (length === 0) return undefined
    return new MillraceError(
      'INVALID_RESUME',
      `${length} interrupts are open. Answer them with \`resume\` first.`,
    )
  }

  #refused(error: MillraceError): Promise<RunResult> {
    this.#error = error
    this.#changed()
    return Promise.resolve({ runId: '', status: 'failed', error })
  }

  #userMessage(content: string | readonly ContentPart[]): UserMessage {
    return { id: this.#newId('message'), role: 'user', content: toContent(content) }
  }

  #toolMessage(result: { readonly toolCallId: string; readonly content: string }): Message {
    return { id: this.#newId('message'), role: 'tool', ...result }
  }

  #add(entry: Partial<Omit<Entry, 'resolve'>> & { readonly resolve?: Entry['resolve'] }): Promise<RunResult> {
    const { messages = [], resume = [], isNew = true, round = 0, patch } = entry
    return new Promise((resolved) => {
      const resolve = entry.resolve ?? resolved
      const made: Entry = {
        ...{ runId: this.#newId('run'), messages, resume, isNew, round, resolve, mustCheck: false },
        ...(patch ? { patch } : {}),
      }
      if (this.#isClosed) {
        const error = new MillraceError('RUN_CANCELLED', 'The thread was closed.')
        return resolve({ runId: made.runId, status: 'failed', error })
      }
      this.#error = undefined
      this.#setOutbox([...this.#outbox, made])
      this.#want()
    })
  }

  #setOutbox(outbox: readonly Entry[]): void {
    this.#outbox = outbox
    this.#queued = outbox.flatMap(({ messages, isNew }) => (isNew ? messages : []))
    this.#changed()
  }

  /** Somebody wants something of the server. */
  #want(): void {
    this.#isRefused = false
    this.#review()
    if (this.#isLooping) return
    this.#isLooping = true
    void this.#loop()
  }

  /** Ends the open stream when nobody needs it any more, or when something is to be sent. */
  #review(): void {
    if (!this.#sending && this.#isStreamOver()) this.#stream?.abort()
  }

  #isWanted(): boolean {
    const hasWork = this.#listeners.size > 0 || this.#outbox.length > 0 || this.#current !== undefined
    return hasWork && !this.#isClosed && !this.#isRefused
  }

  #nextToSend(): Entry | undefined {
    const [next] = this.#outbox
    return next && !next.mustCheck && !this.#current && !this.#view.isRunning ? next : undefined
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
      this.#view.open()
      if (this.#connection !== 'retrying') this.#setConnection('connecting')
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
    const { version, lastEventId } = this.#view
    const known = version === undefined ? {} : { version }
    const events = openEventStream(this.#http, {
      ...{ method: 'POST', path: this.#path('/follow'), signal, onOpen: () => this.#setConnection('open') },
      body: { threadId: this.threadId, protocolVersion, ...known },
      ...(lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } }),
    })
    for await (const item of events) {
      if (isBrokenStream(item)) throw brokenStream(item)
      this.#take(item, false)
      if (this.#isStreamOver()) return
    }
    throw new RequestFailure(networkError(new Error('The stream has ended.')))
  }

  async #sendRun(entry: Entry, signal: AbortSignal): Promise<void> {
    this.#sending = entry
    const events = openEventStream(this.#http, {
      ...{ method: 'POST', path: this.#path('/run'), signal, onOpen: () => this.#setConnection('open') },
      body: this.#inputOf(entry),
      headers: { 'millrace-reconnects': 'true', 'millrace-version': String(this.#view.version ?? 0) },
    })
    for await (const item of events) {
      const isAccepted = this.#current === entry
      if (isBrokenStream(item)) {
        if (isAccepted) throw brokenStream(item)
        this.#refuse(entry, brokenStream(item).error)
        return
      }
      if (!isAccepted) this.#accept(entry)
      this.#take(item, true)
      if (!this.#current) return
    }
    throw new RequestFailure(networkError(new Error('The stream has ended.')))
  }

  async #sendPatch(entry: Entry, patch: readonly JsonPatchOperation[], signal: AbortSignal): Promise<void> {
    const view = this.#view
    const delta = [...patch]
    const done: RunResult = { runId: entry.runId, status: 'completed' }
    if (view.version === 0) {
      const problem = view.patch(delta)
      this.#setOutbox(this.#outbox.slice(1))
      this.#end(
        entry,
        problem === undefined ? done : failed(entry, new MillraceError('INVALID_PATCH', problem)),
      )
      return
    }
    this.#sending = entry
    const path = this.#path(`/state/${encodeURIComponent(this.threadId)}`)
    const response = await this.#http.send({ method: 'PATCH', path, body: delta, signal })
    const answer: unknown = await response.json()
    const version = isRecord(answer) ? Number(answer.version) : undefined
    if (view.version !== undefined && version === view.version + 1 && view.patch(delta) === undefined)
      view.version = version
    else view.forget()
    this.#setOutbox(this.#outbox.slice(1))
    this.#end(entry, done)
  }

  #inputOf({ runId, messages, resume }: Entry): object {
    const { tools = {}, context, forwardedProps } = this.#options
    const isNewThread = this.#view.version === 0
    const { state } = this.#view.snapshot()
    return {
      ...{ threadId: this.threadId, runId, protocolVersion, messages, tools: offeredTools(tools) },
      context: context?.() ?? [],
      ...(resume.length > 0 ? { resume } : {}),
      ...(isNewThread && isRecord(state) && Object.keys(state).length > 0 ? { state } : {}),
      ...(forwardedProps ? { forwardedProps: forwardedProps() } : {}),
    }
  }

  /** The server has begun the run of an entry. */
  #accept(entry: Entry): void {
    this.#current = entry
    this.#setOutbox(this.#outbox.filter((other) => other !== entry))
    if (entry.isNew) this.#view.addSent(entry.messages)
    this.#backoff.reset()
  }

  #take(item: StreamedEvent, isOwn: boolean): void {
    const { isRunning, isLoaded } = this.#view
    if (!this.#view.apply(item, isOwn)) return
    this.#backoff.reset()
    this.#options.onEvent?.(item.event)
    this.#changed()
    const { type } = item.event
    if (type === 'RUN_FINISHED' || type === 'RUN_ERROR') this.#settle()
    else if (isRunning !== this.#view.isRunning || isLoaded !== this.#view.isLoaded) this.#changed()
  }

  /** The thread is at rest: what was sent has been answered, or is to be sent again. */
  #settle(): void {
    const { lastRun } = this.#view
    const resultOf = ({ runId }: Entry): RunResult =>
      lastRun?.runId === runId ? lastRun : { runId, status: 'completed' }
    const current = this.#current
    if (current) {
      this.#current = undefined
      this.#finish(current, resultOf(current))
    }
    const [next] = this.#outbox
    if (!next?.mustCheck) return
    const isThere =
      next.isNew && next.messages.length > 0 && next.messages.every(({ id }) => this.#view.hasMessage(id))
    if (isThere || lastRun?.runId === next.runId) {
      this.#setOutbox(this.#outbox.slice(1))
      this.#finish(next, resultOf(next))
    } else if (this.#view.version !== undefined) next.mustCheck = false
  }

  /** Ends an entry whose run is over, unless this client has tools to run for it. */
  #finish(entry: Entry, result: RunResult): void {
    const hasTools = result.status === 'waiting-for-tools' && entry.round < maxToolRounds
    if (hasTools && this.#executable().length > 0) void this.#executeTools(entry)
    else this.#end(entry, result)
  }

  #end(entry: Pick<Entry, 'resolve'>, result: RunResult): void {
    if (result.error) this.#error = result.error
    this.#publish()
    entry.resolve(result)
  }

  #endAll(error: MillraceError): void {
    const all = [...(this.#current ? [this.#current] : []), ...this.#outbox]
    this.#current = undefined
    this.#setOutbox([])
    for (const entry of all) this.#end(entry, failed(entry, error))
  }

  #refuse(entry: Entry, error: MillraceError): void {
    this.#setOutbox(this.#outbox.filter((other) => other !== entry))
    this.#end(entry, failed(entry, error))
  }

  #executable() {
    const { tools = {} } = this.#options
    return this.#view.pendingToolCalls.filter(
      ({ name }) => Object.hasOwn(tools, name) && tools[name]?.execute,
    )
  }

  async #executeTools({ round, resolve }: Pick<Entry, 'round' | 'resolve'>): Promise<void> {
    const { tools = {} } = this.#options
    const { signal } = this.#tools
    const calls = this.#executable()
    const results = await Promise.all(calls.map((call) => executeTool(tools[call.name], call, signal)))
    if (signal.aborted) {
      resolve({ runId: '', status: 'cancelled' })
      return
    }
    const messages = results.map((result) => this.#toolMessage(result))
    void this.#add({ messages, round: round + 1, resolve })
  }

  /** Decides what to do after a request has failed, and waits if it is worth another. */
  async #recover(failure: RequestFailure, entry: Entry | undefined, signal: AbortSignal): Promise<void> {
    const { error, isUncertain, retryAfterMs } = failure
    const isAccepted = entry !== undefined && this.#current === entry
    if (entry && !isAccepted) {
      if (entry.patch && isUncertain) {
        // A patch may not be applied twice, and nothing tells whether this one was.
        this.#view.forget()
        this.#refuse(entry, error)
        return
      }
      const isLocked = error.code === 'THREAD_IS_LOCKED'
      if (!isLocked && !failure.isPassing) {
        this.#refuse(entry, error)
        return
      }
      if (isLocked || isUncertain) {
        entry.mustCheck = true
        this.#view.forget()
      }
      if (isLocked) return
    } else if (!failure.isPassing && error.status < 500) {
      this.#isRefused = true
      this.#error = error
      this.#endAll(error)
      return
    }
    this.#sending = undefined
    this.#setConnection('retrying')
    await this.#backoff.wait(signal, retryAfterMs)
  }

  #path(route: string): string {
    return `/agents/${encodeURIComponent(this.agent)}${route}`
  }

  #setConnection(connection: ThreadSnapshot['connection']): void {
    if (connection === this.#connection) return
    this.#connection = connection
    this.#changed()
  }

  /** Tells the listeners once for all events of a tick. */
  #changed(): void {
    this.#cancelNotify ??= this.#http.clock.schedule(0, () => this.#publish())
  }

  #publish(): void {
    this.#cancelNotify?.()
    this.#cancelNotify = undefined
    const snapshot = this.#toSnapshot()
    if (snapshot === this.#snapshot) return
    this.#snapshot = snapshot
    for (const listener of [...this.#listeners]) listener()
  }

  #toSnapshot(): ThreadSnapshot {
    const { messages, ...view } = this.#view.snapshot()
    const next: ThreadSnapshot = {
      ...view,
      messages: this.#withQueued(messages),
      status: this.#status(),
      connection: this.#connection,
      error: this.#error ?? this.#view.error,
    }
    const last = this.#snapshot as ThreadSnapshot | undefined
    const keys = Object.keys(next) as (keyof ThreadSnapshot)[]
    return last && keys.every((key) => next[key] === last[key]) ? last : next
  }

  /** The messages with those that wait to be sent: the same list while both are the same. */
  #withQueued(messages: readonly Message[]): readonly Message[] {
    if (this.#queued.length === 0) return messages
    const last = this.#shown
    if (last?.messages === messages && last.queued === this.#queued) return last.all
    const all = [...messages, ...this.#queued]
    this.#shown = { messages, queued: this.#queued, all }
    return all
  }

  #shown:
    | {
        readonly messages: readonly Message[]
        readonly queued: readonly Message[]
        readonly all: readonly Message[]
      }
    | undefined

  #status(): ThreadSnapshot['status'] {
    const view = this.#view
    const isSending = this.#current !== undefined || this.#outbox.some(({ patch }) => patch === undefined)
    if (view.isRunning || isSending) return 'running'
    if (!view.isLoaded) return 'loading'
    if (view.interrupts.length > 0) return 'interrupted'
    return view.pendingToolCalls.length > 0 ? 'waiting-for-tools' : 'idle'
  }
}

/** The version of AG-UI that this client speaks. */
const protocolVersion = '1.1'

function failed({ runId }: Entry, error: MillraceError): RunResult {
  return { runId, status: 'failed', error }
}

function toContent(content: string | readonly ContentPart[]): string | ContentPart[] {
  return typeof content === 'string' ? content : [...content]
}

function unknownMessage(id: string): MillraceError {
  return new MillraceError('INVALID_INPUT', `The thread has no message '${id}' of the user.`)
}

/** Whether an error ends the stream, not a run: what belongs to a run has an id. */
function isBrokenStream({ id, event }: StreamedEvent): boolean {
  return event.type === 'RUN_ERROR' && id === undefined
}

function brokenStream({ event }: StreamedEvent): RequestFailure {
  const { code = '', message } = event as { readonly code?: string; readonly message: string }
  return new RequestFailure(toClientError({ code, message }))
}

function toFailure(error: unknown): RequestFailure {
  return error instanceof RequestFailure ? error : new RequestFailure(networkError(error))
}

import type { ContentPart, JsonPatchOperation, Message } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import { randomIds, type IdSource } from '../core/ids.js'
import { toResultText } from './client-tools.js'
import type {
  Answer,
  ClientOptions,
  PatchResult,
  RunResult,
  Thread,
  ThreadOptions,
  ThreadSnapshot,
} from './contract.js'
import type { Http } from './http.js'
import { Publisher } from './publisher.js'
import { createBackoff } from './retry.js'
import { ThreadSync } from './thread-sync.js'
import { ThreadView } from './thread-view.js'

/** Which thread of which agent, and how it is used. */
export interface ThreadSetup extends ThreadOptions {
  readonly agent: string
  /** Undefined: a new one. */
  readonly threadId: string | undefined
}

export function createThread(http: Http, client: ClientOptions, setup: ThreadSetup): Thread {
  return new ClientThread(http, client, setup)
}

class ClientThread implements Thread {
  readonly agent: string
  readonly threadId: string
  readonly #newId: IdSource
  readonly #view: ThreadView
  readonly #sync: ThreadSync
  readonly #publisher: Publisher
  readonly #clock: Http['clock']
  #answers: readonly Answer[] = []
  /** The messages with those that wait to be sent, as they were shown last. */
  #shown: {
    readonly sent: readonly Message[]
    readonly queued: readonly Message[]
    readonly all: readonly Message[]
  }

  constructor(http: Http, client: ClientOptions, { agent, threadId, ...options }: ThreadSetup) {
    const newId = client.newId ?? randomIds
    this.agent = agent
    this.threadId = threadId ?? newId('thread')
    this.#newId = newId
    this.#clock = http.clock
    // Nobody else knows a new thread.
    this.#view = new ThreadView(threadId === undefined ? 0 : undefined)
    this.#sync = new ThreadSync({
      ...{ http, options, newId, agent, threadId: this.threadId, view: this.#view },
      backoff: createBackoff(http.clock, client),
      isFollowed: () => this.#publisher.hasListeners,
      onChange: () => this.#publisher.changed(),
      publish: () => this.#publisher.publish(),
    })
    this.#shown = { sent: [], queued: [], all: [] }
    this.#publisher = new Publisher(http.clock, () => this.#read())
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const remove = this.#publisher.add(listener)
    this.#sync.want()
    return () => {
      remove()
      // Not at once: a component that is mounted again keeps the stream.
      this.#clock.schedule(0, () => this.#sync.review())
    }
  }

  readonly getSnapshot = (): ThreadSnapshot => this.#publisher.snapshot

  send(content: string | readonly ContentPart[]): Promise<RunResult> {
    const { length } = this.#view.interrupts
    if (length > 0)
      return this.#refuse(
        'INVALID_RESUME',
        `${length} interrupts are open. Answer them with \`resume\` first.`,
      )
    return this.#sync.queue.add({
      messages: [{ id: this.#newId('message'), role: 'user', content: toContent(content) }],
    })
  }

  resume(answers: readonly Answer[]): Promise<RunResult> {
    const open = this.#view.interrupts.map(({ id }) => id)
    const isOpen = ({ interruptId }: Answer): boolean => open.includes(interruptId)
    if (open.length > 0 && !answers.some(isOpen))
      return this.#refuse('INVALID_RESUME', `Answer an open interrupt: ${open.join(', ')}.`)
    const replaced = new Set(answers.map(({ interruptId }) => interruptId))
    const all = [...this.#openAnswers().filter(({ interruptId }) => !replaced.has(interruptId)), ...answers]
    const given = all.filter(isOpen)
    // AG-UI wants all answers in one request.
    const isComplete = open.every((id) => given.some(({ interruptId }) => interruptId === id))
    this.#answers = isComplete ? [] : given
    if (isComplete)
      return this.#sync.queue.add({ resume: all.map((answer) => ({ status: 'resolved', ...answer })) })
    this.#publisher.publish()
    return Promise.resolve({ runId: this.#view.runId ?? '', status: 'interrupted' })
  }

  answerTool(toolCallId: string, result: unknown): Promise<RunResult> {
    const id = this.#newId('message')
    return this.#sync.queue.add({
      messages: [{ id, role: 'tool', toolCallId, content: toResultText(result) }],
    })
  }

  runTools(): Promise<RunResult | undefined> {
    return this.#sync.queue.runTools()
  }

  edit(messageId: string, content: string | readonly ContentPart[]): Promise<RunResult> {
    const message = this.#view.content.messages.find(({ id }) => id === messageId)
    if (message?.role !== 'user') return this.#refuseMessage(messageId)
    return this.#sync.queue.add({ messages: [{ ...message, content: toContent(content) }], isNew: false })
  }

  regenerate(messageId?: string): Promise<RunResult> {
    const { messages } = this.#view.content
    const end =
      messageId === undefined ? messages.length : messages.findIndex(({ id }) => id === messageId) + 1
    const last = messages.slice(0, end).findLast(({ role }) => role === 'user')
    if (!last) return this.#refuseMessage(messageId ?? '')
    // The server has what stands before it, and cuts off what follows.
    return this.#sync.queue.add({
      messages: [last],
      isNew: false,
      mustCheck: this.#view.version === undefined,
    })
  }

  async patchState(patch: readonly JsonPatchOperation[]): Promise<PatchResult> {
    const { status, error } = await this.#sync.queue.add({ patch })
    return { status: status === 'completed' ? status : 'failed', ...(error && { error }) }
  }

  stop(): Promise<void> {
    return this.#sync.stop()
  }

  close(): void {
    this.#sync.close()
    this.#publisher.clear()
  }

  #refuse(code: MillraceError['code'], message: string): Promise<RunResult> {
    const error = new MillraceError(code, message)
    this.#sync.noteError(error)
    return Promise.resolve({ runId: '', status: 'failed', error })
  }

  #refuseMessage(id: string): Promise<RunResult> {
    return this.#refuse('INVALID_INPUT', `The thread has no message '${id}' of the user.`)
  }

  #read(): ThreadSnapshot {
    const { messages, ...view } = this.#view.content.snapshot()
    const { connection, queue } = this.#sync
    return {
      ...view,
      messages: this.#withQueued(messages, queue.messages),
      answers: this.#openAnswers(),
      status: this.#status(),
      connection,
      error: queue.error ?? this.#view.error,
    }
  }

  /** The answers to interrupts that are still open: another tab may have answered all. */
  #openAnswers(): readonly Answer[] {
    const open = new Set(this.#view.interrupts.map(({ id }) => id))
    if (!this.#answers.every(({ interruptId }) => open.has(interruptId)))
      this.#answers = this.#answers.filter(({ interruptId }) => open.has(interruptId))
    return this.#answers
  }

  /** The same list while both are the same. */
  #withQueued(sent: readonly Message[], queued: readonly Message[]): readonly Message[] {
    if (queued.length === 0) return sent
    if (this.#shown.sent !== sent || this.#shown.queued !== queued)
      this.#shown = { sent, queued, all: [...sent, ...queued] }
    return this.#shown.all
  }

  #status(): ThreadSnapshot['status'] {
    const { isRunning, isLoaded, interrupts, pendingToolCalls } = this.#view
    if (isRunning || this.#sync.queue.hasRun) return 'running'
    if (!isLoaded) return 'loading'
    if (interrupts.length > 0) return 'interrupted'
    return pendingToolCalls.length > 0 ? 'waiting-for-tools' : 'idle'
  }
}

function toContent(content: string | readonly ContentPart[]): string | ContentPart[] {
  return typeof content === 'string' ? content : [...content]
}

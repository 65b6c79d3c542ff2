import type { BaseSessionService, Event, PluginManager, RunConfig, Runner } from '@google/adk'
import type { Content, SessionKey } from '../adk-types.js'
import { replaceMembers } from '../../core/replace-members.js'

export interface AttemptRunnerOptions extends SessionKey {
  readonly runner: Runner
  readonly message: Content
  readonly stateDelta?: Record<string, unknown> | undefined
  readonly runConfig?: RunConfig | undefined
  readonly signal: AbortSignal
}

type AppendEvent = BaseSessionService['appendEvent']
type OnUserMessage = PluginManager['runOnUserMessageCallback']

/**
 * Runs all attempts to answer one message. A Runner needs a message for every run and stores it each time. So each
 * attempt has a Runner that inherits from the given one, and a session service that stores the message only once.
 */
export class AttemptRunner {
  readonly #options: AttemptRunnerOptions
  readonly #calls = new UnfinishedCalls()
  /** All attempts share one invocation: workflows know by it which of their nodes have finished. */
  #invocationId: string | undefined
  /** The id of the event that holds the message. */
  #messageEventId: string | undefined
  #isMessageStored = false

  constructor(options: AttemptRunnerOptions) {
    this.#options = options
  }

  /** Whether a call has begun without a stored result. Then another attempt could execute it twice. */
  get hasUnfinishedCalls(): boolean {
    return this.#calls.size > 0
  }

  /** Runs the agent. A later attempt continues from the session. */
  async *start(): AsyncGenerator<Event, void> {
    const { userId, sessionId, message, stateDelta, signal } = this.#options
    const state = { isStopped: false, isMessageNext: false }
    let isComplete = false
    try {
      yield* this.#inheritingRunner(state).runAsync({
        userId,
        sessionId,
        newMessage: { ...message, role: message.role ?? 'user' },
        abortSignal: signal,
        ...(stateDelta && { stateDelta }),
        ...this.#runConfig(),
      })
      isComplete = true
    } finally {
      state.isStopped = !isComplete
    }
  }

  /** Saves uploads of the message only once, too. */
  #runConfig(): { runConfig?: RunConfig } {
    const { runConfig } = this.#options
    if (!runConfig) return {}
    return {
      runConfig: this.#isMessageStored ? { ...runConfig, saveInputBlobsAsArtifacts: false } : runConfig,
    }
  }

  #inheritingRunner(state: AttemptState): Runner {
    const { runner, appName } = this.#options
    const runOnUserMessageCallback: OnUserMessage = async (request) => {
      const invocationId = (this.#invocationId ??= request.invocationContext.invocationId)
      Object.assign(request.invocationContext, { invocationId })
      const changed = await runner.pluginManager.runOnUserMessageCallback(request)
      // The Runner stores the message right after this, before anything else.
      state.isMessageNext = true
      return changed
    }
    const appendEvent: AppendEvent = (request) => this.#append(request, state)
    return Object.create(runner, {
      appName: { value: appName },
      sessionService: { value: replaceMembers(runner.sessionService, { appendEvent }) },
      pluginManager: { value: replaceMembers(runner.pluginManager, { runOnUserMessageCallback }) },
    }) as Runner
  }

  async #append(request: Parameters<AppendEvent>[0], state: AttemptState): Promise<Event> {
    const { runner, appName, userId, sessionId } = this.#options
    const { session, event } = request
    // A stopped attempt must not write into those that follow.
    if (state.isStopped) throw new DOMException('This attempt is over.', 'AbortError')
    // An agent that is used as a tool has a session of its own.
    const isOwn = session.appName === appName && session.userId === userId && session.id === sessionId
    if (isOwn && state.isMessageNext) {
      state.isMessageNext = false
      return this.#appendMessage(request)
    }
    const stored = await runner.sessionService.appendEvent(request)
    if (isOwn) this.#calls.record(event)
    return stored
  }

  async #appendMessage(request: Parameters<AppendEvent>[0]): Promise<Event> {
    const { event } = request
    if (this.#isMessageStored) return event
    // A failed append may have stored the event: with the same id, this one replaces it.
    event.id = this.#messageEventId ??= event.id
    const stored = await this.#options.runner.sessionService.appendEvent(request)
    this.#isMessageStored = true
    return stored
  }
}

interface AttemptState {
  /** The attempt threw, or its reader stopped reading. */
  isStopped: boolean
  /** The next event to store is the message. */
  isMessageNext: boolean
}

/** Calls of a run without a stored result. Calls that wait for a person, or for long-running work, do not count. */
class UnfinishedCalls {
  readonly #ids = new Set<string>()

  get size(): number {
    return this.#ids.size
  }

  /** Takes an event that was stored. */
  record({ content, longRunningToolIds = [], actions, partial }: Event): void {
    if (partial === true) return
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      if (functionCall?.id !== undefined) this.#ids.add(functionCall.id)
      if (functionResponse?.id !== undefined) this.#ids.delete(functionResponse.id)
    }
    for (const id of longRunningToolIds) this.#ids.delete(id)
    for (const id of Object.keys(actions.requestedToolConfirmations)) this.#ids.delete(id)
  }
}

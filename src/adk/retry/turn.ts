import type { BaseSessionService, Event, PluginManager, RunConfig, Runner } from '@google/adk'
import type { Content, SessionKey } from '../adk-types.js'
import { createOpenCalls, type OpenCalls } from './open-calls.js'

export interface TurnOptions extends SessionKey {
  readonly runner: Runner
  readonly message: Content
  readonly stateDelta?: Record<string, unknown> | undefined
  readonly runConfig?: RunConfig | undefined
  readonly signal: AbortSignal
}

/** One message to an agent, and the attempts at answering it. */
export interface Turn {
  /** Whether a call has begun and has no stored result: then no other attempt may follow. */
  readonly hasOpenCalls: boolean
  /** Runs the agent. From the second time on, it goes on from what the session has. */
  attempt(): AsyncGenerator<Event, void>
}

type Append = BaseSessionService['appendEvent']
type OnUserMessage = PluginManager['runOnUserMessageCallback']

/** What all attempts of a turn share. */
interface Shared extends TurnOptions {
  readonly calls: OpenCalls
  /** The one invocation: by it, workflows know which of their nodes have finished. */
  invocationId?: string
  /** The id of the event that holds the message. */
  messageEventId?: string
  isMessageStored: boolean
}

/**
 * The Runner insists on a message for every run, and stores it each time. So each attempt has a Runner of its own that
 * inherits from the given one, and a session service that takes the message in once over all attempts.
 */
export function createTurn(options: TurnOptions): Turn {
  const shared: Shared = { ...options, calls: createOpenCalls(), isMessageStored: false }
  return {
    get hasOpenCalls() {
      return shared.calls.size > 0
    },
    attempt: () => attempt(shared),
  }
}

async function* attempt(shared: Shared): AsyncGenerator<Event, void> {
  const { userId, sessionId, message, stateDelta, signal } = shared
  const state = { isStopped: false, isMessageNext: false }
  let isComplete = false
  try {
    yield* attemptRunner(shared, state).runAsync({
      userId,
      sessionId,
      newMessage: { ...message, role: message.role ?? 'user' },
      abortSignal: signal,
      ...(stateDelta && { stateDelta }),
      ...configOf(shared),
    })
    isComplete = true
  } finally {
    state.isStopped = !isComplete
  }
}

/** What was uploaded with the message is saved once, too. */
function configOf({ runConfig, isMessageStored }: Shared): { runConfig?: RunConfig } {
  if (!runConfig) return {}
  return { runConfig: isMessageStored ? { ...runConfig, saveInputBlobsAsArtifacts: false } : runConfig }
}

interface AttemptState {
  /** Whether it threw, or nobody wanted to hear its end. */
  isStopped: boolean
  /** Whether the next event that is stored is the message. */
  isMessageNext: boolean
}

function attemptRunner(shared: Shared, state: AttemptState): Runner {
  const { runner, appName } = shared
  const runOnUserMessageCallback: OnUserMessage = async (request) => {
    const invocationId = (shared.invocationId ??= request.invocationContext.invocationId)
    Object.assign(request.invocationContext, { invocationId })
    const changed = await runner.pluginManager.runOnUserMessageCallback(request)
    // The Runner stores the message right after this, before anything else.
    state.isMessageNext = true
    return changed
  }
  const appendEvent: Append = (request) => append(shared, state, request)
  return Object.create(runner, {
    appName: { value: appName },
    sessionService: { value: withMethods(runner.sessionService, { appendEvent }) },
    pluginManager: { value: withMethods(runner.pluginManager, { runOnUserMessageCallback }) },
  }) as Runner
}

async function append(shared: Shared, state: AttemptState, request: Parameters<Append>[0]): Promise<Event> {
  const { runner, appName, userId, sessionId, calls } = shared
  const { session, event } = request
  // What is left behind of a stopped attempt must not write into those that follow.
  if (state.isStopped) throw new DOMException('This attempt is over.', 'AbortError')
  // The session of an agent that is used as a tool is another one.
  const isOwn = session.appName === appName && session.userId === userId && session.id === sessionId
  if (isOwn && state.isMessageNext) {
    state.isMessageNext = false
    return appendMessage(shared, request)
  }
  const stored = await runner.sessionService.appendEvent(request)
  if (isOwn) calls.note(event)
  return stored
}

async function appendMessage(shared: Shared, request: Parameters<Append>[0]): Promise<Event> {
  const { event } = request
  if (shared.isMessageStored) return event
  // An event with a known id replaces the one that is there: an append may have failed only seemingly.
  event.id = shared.messageEventId ??= event.id
  const stored = await shared.runner.sessionService.appendEvent(request)
  shared.isMessageStored = true
  return stored
}

/** The same object, except for some methods. The others run on the original: it may have private members. */
function withMethods<T extends object>(original: T, methods: Partial<T>): T {
  return new Proxy(original, {
    get(target, key): unknown {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key)
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

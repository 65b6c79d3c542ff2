import type { Agent, Control, EventEdit, NativeHooks, RunContext } from '../../agents/index.js'
import { linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { AgentEvent } from '../../protocol/index.js'
import { callHook, guardHook, isPromise, type HookContext } from './call-hook.js'
import type { Replaced, RunInfo } from './hooks.js'
import { withRecordedChanges } from './record-changes.js'

/** A server whose hooks are called for one run. */
export interface HookedRun {
  readonly server: HookContext
  readonly info: RunInfo
}

/**
 * `runtimeEvent` and `translate` on the native events of a runtime. Its bridge calls them. Undefined without such hooks,
 * and for agents whose events are AG-UI events: `agentEventHooks` has the hooks then.
 */
export function nativeEventHooks(agent: Agent, { server, info }: HookedRun): NativeHooks | undefined {
  const { runtimeEvent, translate } = server.hooks
  if (agent.hasNativeEvents !== true || (!runtimeEvent && !translate)) return undefined
  const changeNative = withRecordedChanges(server, { name: 'runtimeEvent', info }, (event: unknown) =>
    runtimeEvent?.(event, info),
  )
  return {
    ...(runtimeEvent && {
      change: (event) =>
        callHook(server, 'runtimeEvent', async () => toNativeHooks(await changeNative(event))),
    }),
    ...(translate && {
      translate: (event) => callHook(server, 'translate', async () => toEvents(await translate(event, info))),
    }),
  }
}

/** Native events can be anything, but each is an object. */
function toNativeHooks(result: unknown): readonly unknown[] {
  if (result === undefined) return []
  const events: readonly unknown[] = Array.isArray(result) ? result : [result]
  if (events.every((event) => typeof event === 'object' && event !== null)) return events
  throw new TypeError('Give an event, a list of events, or undefined.')
}

/** `runtimeEvent`, `translate` and `event` on the events of an agent, before the run stream. Undefined without any. */
export function agentEventHooks(agent: Agent, { server, info }: HookedRun): EventEdit | undefined {
  const { event: eventHook } = server.hooks
  const { runtimeEvent, translate } = agent.hasNativeEvents === true ? {} : server.hooks
  const hooks: EventHook[] = []
  const add = (name: 'runtimeEvent' | 'translate' | 'event', hook: EventHook): void => {
    const recorded = withRecordedChanges(server, { name, info }, hook)
    hooks.push(
      guardHook(server, name, (event) => {
        const result = recorded(event)
        return isPromise(result) ? result.then(checkReplaced) : checkReplaced(result)
      }),
    )
  }
  if (runtimeEvent) add('runtimeEvent', (event) => runtimeEvent(event, info) as ReturnType<EventHook>)
  if (translate)
    add('translate', (event) => {
      const result = translate(event, info)
      return isPromise(result) ? result.then((events) => events ?? event) : (result ?? event)
    })
  if (eventHook) add('event', (event) => eventHook(event, info))
  return hooks.length > 0 ? chainEventHooks(hooks) : undefined
}

/** Returns what replaces an event. */
export type EventHook = (event: AgentEvent) => Replaced<AgentEvent> | Promise<Replaced<AgentEvent>>

/** Calls each hook with every event of the hook before it. Synchronous as long as each returns one event. */
export function chainEventHooks(hooks: readonly EventHook[]): EventEdit {
  return (event) => {
    let current = event
    let next = 0
    for (const hook of hooks) {
      const result = hook(current)
      next++
      if (!isOneEvent(result)) return chainRest(result, hooks.slice(next))
      current = result
    }
    return current
  }
}

/** One after the other: a hook gets an event only after all earlier events have left. */
async function* chainRest(
  result: ReturnType<EventHook>,
  [hook, ...rest]: readonly EventHook[],
): AsyncGenerator<AgentEvent, void> {
  const replaced = await result
  const events = replaced === undefined ? [] : 'type' in replaced ? [replaced] : replaced
  for (const event of events) {
    if (hook) yield* chainRest(hook(event), rest)
    else yield event
  }
}

function isOneEvent(result: ReturnType<EventHook>): result is AgentEvent {
  return result !== undefined && !isPromise(result) && 'type' in result
}

/** Throws unless it is an event or a list of events. Copies the list. */
function checkReplaced(result: Replaced<AgentEvent>): Replaced<AgentEvent> {
  return result === undefined || 'type' in result ? result : toEvents(result)
}

function toEvents(result: Iterable<unknown> | null | undefined): readonly AgentEvent[] | undefined {
  if (result === undefined || result === null) return undefined
  const events = [...result]
  if (events.every(isAgentEvent)) return events
  throw new TypeError('Give a list of events, or undefined.')
}

function isAgentEvent(value: unknown): value is AgentEvent {
  return isRecord(value) && 'type' in value
}

/** The agent with `runtimeTimeout`. The agent itself without that hook. */
export function withTimeoutHook(agent: Agent, run: HookedRun): Agent {
  const { hooks, limits } = run.server
  if (!hooks.runtimeTimeout) return agent
  const { runTimeoutMs = limits.runTimeoutMs } = agent.limits ?? {}
  return {
    ...agent,
    // The hook needs time to return its events.
    limits: { ...agent.limits, runTimeoutMs: runTimeoutMs + limits.hookTimeoutMs },
    run: (ctx) => runUntilTimeout(agent, ctx, { ...run, runTimeoutMs }),
  }
}

/** Stops the agent when its time is over and yields the events of the hook. Such a run is cancelled: it did not succeed. */
async function* runUntilTimeout(
  agent: Agent,
  ctx: RunContext,
  { server, info, runTimeoutMs }: HookedRun & { readonly runTimeoutMs: number },
): AsyncGenerator<AgentEvent, Control> {
  const limit = new AbortController()
  const release = linkAbort(ctx.signal, limit)
  const timeout = new MillraceError('EXECUTION_TIMEOUT', `The run took longer than ${runTimeoutMs} ms.`)
  const cancel = ctx.services.clock.schedule(runTimeoutMs, () => limit.abort(timeout))
  const { signal } = limit
  // Inherited, not copied: members such as `state` are live.
  const delegate: RunContext['delegate'] = (below, options) => ctx.delegate(below, { signal, ...options })
  const limited = Object.create(ctx, {
    signal: { value: signal, enumerable: true },
    delegate: { value: delegate, enumerable: true },
  }) as RunContext
  const { clock, graceMs } = ctx.services
  const onStrayError = (error: unknown): void =>
    ctx.services.report('an agent failed after its time was over', error)
  try {
    return yield* abortable(agent.run(limited), { signal, clock, graceMs, onStrayError })
  } catch (error) {
    if (error !== timeout) throw error
    const fallback = await callHook(server, 'runtimeTimeout', async () =>
      toEvents(await server.hooks.runtimeTimeout?.(info)),
    )
    if (!fallback) throw error
    yield* fallback
    // Closes the text of the hook: it is complete, unlike what the end cuts off.
    const last = fallback.findLast((event) => event.type === 'TEXT_MESSAGE_CHUNK')
    if (last?.messageId !== undefined) yield { type: 'TEXT_MESSAGE_END', messageId: last.messageId }
    return { type: 'cancelled' }
  } finally {
    cancel()
    release()
  }
}

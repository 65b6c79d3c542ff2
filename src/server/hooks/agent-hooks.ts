import type { Agent, Control, EventEdit, NativeHooks, RunContext } from '../../agents/index.js'
import { linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import type { Replaced, RunInfo } from './hooks.js'
import { callHook, guarded, isPromise, type HookContext } from './call-hook.js'
import { hookedEvents, type EventHook } from './event-hooks.js'

export interface HookedAgentOptions {
  readonly server: HookContext & Pick<ServerContext, 'hooks'>
  readonly info: RunInfo
}

/** The agent with the hook on its time. The agent itself without one. */
export function hookedAgent(agent: Agent, options: HookedAgentOptions): Agent {
  if (!options.server.hooks.runtimeTimeout) return agent
  return { ...agent, run: (ctx) => inTime(agent, ctx, options) }
}

/** The hooks on what an agent says, before the run makes a strict stream of it. Undefined without any. */
export function eventEdit(agent: Agent, options: HookedAgentOptions): EventEdit | undefined {
  const hooks = eventHooks(agent, options)
  return hooks.length > 0 ? hookedEvents(hooks) : undefined
}

/**
 * The hooks on the events of a runtime that has events of its own. Undefined when there are none, or when the events of
 * the agent are AG-UI events: then they are called with these.
 */
export function nativeHooks(agent: Agent, { server, info }: HookedAgentOptions): NativeHooks | undefined {
  const { hooks } = server
  if (agent.hasNativeEvents !== true || (!hooks.runtimeEvent && !hooks.translate)) return undefined
  return {
    ...(hooks.runtimeEvent && {
      change: (event) =>
        callHook(server, 'runtimeEvent', async () => listOf(await hooks.runtimeEvent?.(event, info))),
    }),
    ...(hooks.translate && {
      translate: (event) =>
        callHook(server, 'translate', async () => eventsIn(await hooks.translate?.(event, info))),
    }),
  }
}

/** Whatever the events of the runtime are, each is an object. */
function listOf(given: unknown): readonly unknown[] {
  if (given === undefined) return []
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.every((one) => typeof one === 'object' && one !== null)) return list
  throw new TypeError('Give an event, a list of events, or undefined.')
}

/** A list of events as one of its own. Throws when it is none. */
function eventsIn(given: Iterable<unknown> | null | undefined): readonly AgentEvent[] | undefined {
  if (given === undefined || given === null) return undefined
  const list = [...given]
  if (list.every(isEvent)) return list
  throw new TypeError('Give a list of events, or undefined.')
}

function isEvent(value: unknown): value is AgentEvent {
  return isRecord(value) && 'type' in value
}

/** The hooks on the events of an agent, in the order in which they are called. */
function eventHooks(agent: Agent, { server, info }: HookedAgentOptions): readonly EventHook[] {
  const { event } = server.hooks
  // Those of a runtime with events of its own are called by the agent.
  const { runtimeEvent, translate } = agent.hasNativeEvents === true ? {} : server.hooks
  const hooks: EventHook[] = []
  const add = (name: 'runtimeEvent' | 'translate' | 'event', hook: EventHook): void => {
    hooks.push(
      guarded(server, name, (one) => {
        const given = hook(one)
        return isPromise(given) ? given.then(checked) : checked(given)
      }),
    )
  }
  // What they give is checked: it has a type, or is a list.
  if (runtimeEvent) add('runtimeEvent', (one) => runtimeEvent(one, info) as ReturnType<EventHook>)
  if (translate)
    add('translate', (one) => {
      const given = translate(one, info)
      return isPromise(given) ? given.then((events) => events ?? one) : (given ?? one)
    })
  if (event) add('event', (one) => event(one, info))
  return hooks
}

/** The same, a list as one of its own. Throws when it is neither an event nor a list of events. */
function checked(given: Replaced<AgentEvent>): Replaced<AgentEvent> {
  return given === undefined || 'type' in given ? given : eventsIn(given)
}

/** Stops the agent when its time is over, and lets the hook say what is sent in its place. */
async function* inTime(
  agent: Agent,
  ctx: RunContext,
  { server, info }: HookedAgentOptions,
): AsyncGenerator<AgentEvent, Control> {
  const { runTimeoutMs } = server.limits
  const limit = new AbortController()
  const release = linkAbort(ctx.signal, limit)
  const late = new MillraceError('EXECUTION_TIMEOUT', `The run took longer than ${runTimeoutMs} ms.`)
  const cancel = ctx.services.clock.schedule(runTimeoutMs, () => limit.abort(late))
  const { signal } = limit
  // Inherited, not copied: members such as `state` are live.
  const limited = Object.create(ctx, { signal: { value: signal, enumerable: true } }) as RunContext
  const { clock, graceMs } = ctx.services
  const onStrayError = (): void => ctx.services.report('an agent failed after its time was over')
  try {
    return yield* abortable(agent.run(limited), { signal, clock, graceMs, onStrayError })
  } catch (error) {
    if (error !== late) throw error
    const fallback = await callHook(server, 'runtimeTimeout', async () =>
      eventsIn(await server.hooks.runtimeTimeout?.(info)),
    )
    if (!fallback) throw error
    yield* fallback
    return { type: 'done' }
  } finally {
    cancel()
    release()
  }
}

import type { Agent, Control, RunContext } from '../../agents/index.js'
import { linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import type { Replaced, RunInfo } from '../hooks.js'
import { callHook } from './call-hook.js'

export interface HookedAgentOptions {
  readonly server: Pick<ServerContext, 'hooks' | 'limits' | 'metrics'>
  readonly info: RunInfo
}

/** The agent with the hooks on what it does, before the run makes a strict stream of it. The agent itself without any. */
export function hookedAgent(agent: Agent, options: HookedAgentOptions): Agent {
  const { runtimeEvent, translate, event, runtimeTimeout } = options.server.hooks
  const isWatched = runtimeEvent !== undefined || translate !== undefined || event !== undefined
  if (!isWatched && !runtimeTimeout) return agent
  const inner: Agent = runtimeTimeout ? { ...agent, run: (ctx) => inTime(agent, ctx, options) } : agent
  return isWatched ? { ...inner, run: (ctx) => watched(inner.run(ctx), options) } : inner
}

async function* watched(
  source: AsyncGenerator<AgentEvent, Control>,
  options: HookedAgentOptions,
): AsyncGenerator<AgentEvent, Control> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      for (const native of await replaced('runtimeEvent', step.value, options))
        for (const translated of await translation(native, options))
          for (const event of await replaced('event', translated, options)) yield event
    }
  } finally {
    await source.return({ type: 'cancelled' })
  }
}

async function replaced(
  name: 'runtimeEvent' | 'event',
  event: AgentEvent,
  { server, info }: HookedAgentOptions,
): Promise<readonly AgentEvent[]> {
  const hook = server.hooks[name]
  if (!hook) return [event]
  return callHook(server, name, async () => toList(await hook(event, info)))
}

async function translation(
  event: AgentEvent,
  { server, info }: HookedAgentOptions,
): Promise<readonly AgentEvent[]> {
  const { translate } = server.hooks
  if (!translate) return [event]
  return callHook(server, 'translate', async () => toList((await translate(event, info)) ?? event))
}

function toList(value: Replaced<AgentEvent>): readonly AgentEvent[] {
  if (value === undefined) return []
  return 'type' in value ? [value] : [...value]
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
  const cancel = ctx.clock.schedule(runTimeoutMs, () => limit.abort(late))
  const { signal } = limit
  // Inherited, not copied: members such as `state` are live.
  const limited = Object.create(ctx, { signal: { value: signal, enumerable: true } }) as RunContext
  const { clock, graceMs } = ctx
  const onStrayError = (): void => ctx.report('an agent failed after its time was over')
  try {
    return yield* abortable(agent.run(limited), { signal, clock, graceMs, onStrayError })
  } catch (error) {
    if (error !== late) throw error
    const fallback = await callHook(server, 'runtimeTimeout', () => server.hooks.runtimeTimeout?.(info))
    if (!fallback) throw error
    yield* fallback
    return { type: 'done' }
  } finally {
    cancel()
    release()
  }
}

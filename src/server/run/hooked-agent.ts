import type { Agent, Control, RunContext } from '../../agents/index.js'
import { linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Hooks, Replaced, RunInfo } from '../hooks.js'
import { callHook } from './call-hook.js'

export interface HookedAgentOptions {
  readonly hooks: Hooks
  readonly info: RunInfo
  readonly runTimeoutMs: number
}

/** The agent with the hooks on what it does, before the run makes a strict stream of it. The agent itself without any. */
export function hookedAgent(agent: Agent, options: HookedAgentOptions): Agent {
  const { runtimeEvent, translate, event, runtimeTimeout } = options.hooks
  const isWatched = runtimeEvent !== undefined || translate !== undefined || event !== undefined
  if (!isWatched && !runtimeTimeout) return agent
  const inner: Agent = runtimeTimeout ? { ...agent, run: (ctx) => inTime(agent, ctx, options) } : agent
  return isWatched ? { ...inner, run: (ctx) => watched(inner.run(ctx), options) } : inner
}

async function* watched(
  source: AsyncGenerator<AgentEvent, Control>,
  { hooks, info }: HookedAgentOptions,
): AsyncGenerator<AgentEvent, Control> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      for (const native of await replaced('runtimeEvent', step.value, { hooks, info }))
        for (const translated of await translation(native, { hooks, info }))
          for (const event of await replaced('event', translated, { hooks, info })) yield event
    }
  } finally {
    await source.return({ type: 'cancelled' })
  }
}

type Watching = Pick<HookedAgentOptions, 'hooks' | 'info'>

async function replaced(
  name: 'runtimeEvent' | 'event',
  event: AgentEvent,
  { hooks, info }: Watching,
): Promise<readonly AgentEvent[]> {
  const hook = hooks[name]
  if (!hook) return [event]
  return toList(await callHook(name, () => hook(event, info)))
}

async function translation(event: AgentEvent, { hooks, info }: Watching): Promise<readonly AgentEvent[]> {
  const { translate } = hooks
  if (!translate) return [event]
  return (await callHook('translate', () => translate(event, info))) ?? [event]
}

function toList(value: Replaced<AgentEvent>): readonly AgentEvent[] {
  if (value === undefined) return []
  return 'type' in value ? [value] : value
}

/** Stops the agent when its time is over, and lets the hook say what is sent in its place. */
async function* inTime(
  agent: Agent,
  ctx: RunContext,
  { hooks, info, runTimeoutMs }: HookedAgentOptions,
): AsyncGenerator<AgentEvent, Control> {
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
    const fallback = await callHook('runtimeTimeout', () => hooks.runtimeTimeout?.(info))
    if (!fallback) throw error
    yield* fallback
    return { type: 'done' }
  } finally {
    cancel()
    release()
  }
}

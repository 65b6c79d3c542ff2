import type { RunnableConfig } from '@langchain/core/runnables'
import type { RunContext, ThreadOwner } from '../../agents/index.js'
import { stableHash } from '../../core/ids.js'
import type { GraphSetup, PerRun } from '../contract.js'
import { withClientExtras } from '../tools/client-extras.js'

/** The config that finds the checkpoints of a thread. */
export async function threadConfig(
  { name, options }: GraphSetup,
  thread: ThreadOwner,
): Promise<RunnableConfig> {
  const { app, user, threadId } = thread
  const ownId = [app, user, name, threadId].map(encodeURIComponent).join('/')
  return { configurable: { thread_id: (await options.threadId?.(thread)) ?? ownId } }
}

/** The config of one run. A subagent has checkpoints of its own at each address. */
export async function runConfig(setup: GraphSetup, ctx: RunContext): Promise<RunnableConfig> {
  const config = ((await resolvePerRun(setup.options.config, ctx)) ?? {}) as RunnableConfig
  const { configurable } = await threadConfig(setup, ctx)
  const suffix = ctx.span.subagentRunId === undefined ? '' : `/${stableHash(ctx.span.address)}`
  return {
    ...config,
    configurable: {
      ...withClientExtras(config.configurable ?? {}, ctx.client),
      thread_id: `${String(configurable?.thread_id)}${suffix}`,
    },
  }
}

async function resolvePerRun<T>(value: PerRun<T> | undefined, ctx: RunContext): Promise<T | undefined> {
  return typeof value === 'function' ? await (value as (ctx: RunContext) => T | Promise<T>)(ctx) : value
}

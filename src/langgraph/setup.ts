import type { RunnableConfig } from '@langchain/core/runnables'
import type { RunContext, ThreadOwner } from '../agents/index.js'
import { stableHash } from '../core/hash.js'
import type { MemoryGraph } from './input/memory-graph.js'
import type { StateGraphLike } from './input/state-keys.js'
import type { LangGraphOptions, PerRun } from './options.js'
import type { StreamableGraph } from './source/graph-source.js'
import { withRunExtras } from './tools/run-extras.js'

/** What is needed of a compiled graph. */
export type ServableGraph = StreamableGraph &
  MemoryGraph &
  StateGraphLike & {
    readonly name?: string | undefined
    /** Nodes where it stops; `*` for all. */
    readonly interruptBefore?: readonly string[] | '*'
    readonly interruptAfter?: readonly string[] | '*'
  }

/** A graph with all that its runs have in common. */
export interface GraphSetup {
  readonly name: string
  readonly graph: ServableGraph
  readonly options: LangGraphOptions
}

/** Where the checkpointer keeps a thread. */
export async function threadConfig(
  { name, options }: GraphSetup,
  thread: ThreadOwner,
): Promise<RunnableConfig> {
  const { app, user, threadId } = thread
  const own = [app, user, name, threadId].map(encodeURIComponent).join('/')
  return { configurable: { thread_id: (await options.threadId?.(thread)) ?? own } }
}

/** The same for one run. An agent below another has a thread of its own for each time it is called. */
export async function runConfig(setup: GraphSetup, ctx: RunContext): Promise<RunnableConfig> {
  const given = (await valueFor(setup.options.config, ctx)) ?? {}
  const { configurable } = await threadConfig(setup, ctx)
  const below = ctx.span.subagentRunId === undefined ? '' : `/${stableHash(ctx.span.address)}`
  const threadId = `${String(configurable?.thread_id)}${below}`
  const more = (given as RunnableConfig).configurable ?? {}
  const extras = withRunExtras(more, { tools: ctx.client.tools, context: ctx.client.context })
  return { ...given, configurable: { ...extras, thread_id: threadId } }
}

async function valueFor<T>(given: PerRun<T> | undefined, ctx: RunContext): Promise<T | undefined> {
  return typeof given === 'function' ? await (given as (ctx: RunContext) => T | Promise<T>)(ctx) : given
}

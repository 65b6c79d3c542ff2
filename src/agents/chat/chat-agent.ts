import type { AgentCapabilities, Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelSettings } from '../../models/index.js'
import type { Agent, RunContext, Tool, ToolSource, HistoryRewriter } from '../contract.js'
import { checkNumber } from '../check-number.js'
import type { Middleware } from './middleware.js'
import { toRetryPolicy, type RetryOptions } from '../retry/retry-policy.js'
import type { Schema } from '../tools/schema.js'
import { teamAgent } from '../transfer/team.js'
import { runChat } from './loop.js'
import { checkTools } from './setup.js'

export interface AgentOptions {
  readonly name: string
  readonly description?: string
  /** What the agent is told: text, taken literally, or a function of the run. */
  readonly instructions?: string | ((ctx: RunContext) => string | Promise<string>)
  readonly model: Model
  /** Models to turn to, in order, when the first does not answer. */
  readonly failover?: readonly Model[]
  readonly retry?: RetryOptions
  readonly settings?: ModelSettings
  readonly tools?: readonly (Tool | ToolSource)[]
  /** What a tool that fails does: its error goes back to the model (default), or ends the run. */
  readonly onToolError?: 'feedback' | 'throw'
  /** How often the model may be asked in one run. Default 20. */
  readonly maxIterations?: number
  /** When that is not enough: an error (default), or one more answer without tools. */
  readonly onMaxIterations?: 'error' | 'answer'
  /** The final answer is JSON of this shape, and the result of the run. */
  readonly output?: Schema
  /** Puts the final answer into the values of the run under this key. */
  readonly outputKey?: string
  readonly middlewares?: readonly Middleware[]
  /** Agents the model may hand the conversation over to. They may hand it back. */
  readonly subAgents?: readonly Agent[]
  /** Whether those may also hand over to each other. Default: no. */
  readonly transferToPeers?: boolean
  /** Whether this agent, as one of those, may not hand back to the agent above it. */
  readonly disallowTransferToParent?: boolean
  /** How often the conversation may be handed over below this agent in one run. Default 20. */
  readonly maxTransfers?: number
  /** Makes of the conversation what this agent reads. Default: what other agents said is told as context. */
  readonly historyRewriter?: HistoryRewriter
  readonly capabilities?: AgentCapabilities
  /** What to ask it first: prompts that show its point. Clients offer them as suggestions. */
  readonly examples?: readonly string[]
}

/** The options with their defaults. */
export interface ChatConfig extends Omit<AgentOptions, 'retry'> {
  readonly models: readonly Model[]
  readonly retry: ReturnType<typeof toRetryPolicy>
  readonly onToolError: 'feedback' | 'throw'
  readonly maxIterations: number
  readonly onMaxIterations: 'error' | 'answer'
  readonly middlewares: readonly Middleware[]
  readonly tools: readonly (Tool | ToolSource)[]
}

/**
 * Makes an agent that talks: it asks a model, runs the tools the model calls, and asks again until there is an answer.
 * Throws INVALID_AGENT when the options make no sense.
 *
 * @example
 * const agent = defineAgent({ name: 'concierge', instructions: 'Help guests.', model, tools: [weather, book] })
 */
export function defineAgent(options: AgentOptions): Agent {
  const { name, description = '', model, failover = [], maxIterations = 20, tools = [] } = options
  if (name.trim() === '') throw new MillraceError('INVALID_AGENT', 'An agent needs a name.')
  checkNumber('maxIterations', maxIterations, { min: 1, isInteger: true })
  const own = tools.filter((tool): tool is Tool => 'call' in tool)
  checkTools(own, name)
  const { subAgents = [], transferToPeers = false, maxTransfers = 20 } = options
  const config: ChatConfig = {
    ...options,
    models: [model, ...failover],
    retry: toRetryPolicy(options.retry),
    onToolError: options.onToolError ?? 'feedback',
    maxIterations,
    onMaxIterations: options.onMaxIterations ?? 'error',
    middlewares: options.middlewares ?? [],
    tools,
  }
  const lead: Agent = {
    name,
    description,
    shape: {
      kind: 'chat',
      name,
      tools: Object.fromEntries(own.map((tool) => [tool.name, tool.shape ?? true])),
    },
    run: (ctx) => runChat(config, ctx),
    ...(options.capabilities === undefined ? {} : { capabilities: options.capabilities }),
    ...(options.examples === undefined ? {} : { examples: options.examples }),
  }
  if (subAgents.length === 0) return lead
  return teamAgent({
    lead,
    members: subAgents,
    peers: transferToPeers,
    afterMember: 'end',
    onMemberError: 'throw',
    maxTransfers,
  })
}

/** A message from a user, for those who write conversations by hand. */
export function userMessage(content: string, id: string = crypto.randomUUID()): Message {
  return { id, role: 'user', content }
}

import type { AgentCapabilities, Message } from '@ag-ui/core'
import type { PredictStateMapping } from '../../bridge/predict-state.js'
import type { Model, ModelSettings } from '../../models/index.js'
import type { Agent, AgentLimits, RunContext, Tool, ToolSource, HistoryRewriter } from '../contract.js'
import { checkAgents, checkGiven, checkList, checkName } from '../check-agent.js'
import { checkNumber } from '../check-number.js'
import type { Middleware } from './middleware.js'
import { toRetryPolicy, type RetryOptions } from '../retry/retry-policy.js'
import type { Schema } from '../tools/schema.js'
import { withHistory } from '../history/with-history.js'
import { teamAgent } from '../transfer/team.js'
import { privateKeysMember } from '../private-keys.js'
import { limitsMember } from '../run/limits.js'
import { withPredictedState } from '../run/predict-state.js'
import { checkMiddlewares, checkModel, checkToolList } from './check-options.js'
import { runChat } from './loop.js'
import { outlineChat } from './outline-chat.js'
import { createOutput, type Output } from './output.js'
import { checkTools } from './toolbox.js'

export interface AgentOptions {
  readonly name: string
  readonly description?: string
  /** Text, taken literally, or a function of the run. */
  readonly instructions?: string | ((ctx: RunContext) => string | Promise<string>)
  /** A model, or a function of the run: it may choose by `ctx.values`, `ctx.claims` or `ctx.client`. */
  readonly model: Model | ((ctx: RunContext) => Model)
  /** Models to call, in order, when the first does not answer. */
  readonly failover?: readonly Model[]
  readonly retry?: RetryOptions
  /** Settings, or a function of the run. */
  readonly settings?: ModelSettings | ((ctx: RunContext) => ModelSettings)
  readonly tools?: readonly (Tool | ToolSource)[]
  /** Whether the error of a tool goes back to the model (default) or ends the run. */
  readonly onToolError?: 'feedback' | 'throw'
  /** How often the model may be called in one run. Default 20. */
  readonly maxIterations?: number
  /** Above that limit: an error (default), or one more answer without tools. */
  readonly onMaxIterations?: 'error' | 'answer'
  /** The schema of the final answer, which is JSON and the result of the run. */
  readonly output?: Schema
  /** Stores the final answer in the values of the run under this key. */
  readonly outputKey?: string
  readonly middlewares?: readonly Middleware[]
  /** Agents the model may transfer to. They may transfer back. */
  readonly subAgents?: readonly Agent[]
  /** Whether subagents may also transfer to each other. Default: no. */
  readonly transferToPeers?: boolean
  /** Whether this agent, as a subagent, may not transfer to the agent above it. */
  readonly disallowTransferToParent?: boolean
  /** How many transfers one run may have below this agent. Default 20. */
  readonly maxTransfers?: number
  /** Turns the conversation into the messages this agent reads. Default: messages of other agents become context. */
  readonly historyRewriter?: HistoryRewriter
  readonly capabilities?: AgentCapabilities
  /** Prompts that show what it is good for. Clients offer them as suggestions. */
  readonly examples?: readonly string[]
  readonly limits?: AgentLimits
  /** Tool arguments that clients may show as state while the call is written. */
  readonly predictState?: readonly PredictStateMapping[]
}

/** The options with their defaults. */
export interface ChatConfig extends Omit<AgentOptions, 'retry' | 'output' | 'historyRewriter'> {
  readonly output: Output | undefined
  readonly retry: ReturnType<typeof toRetryPolicy>
  readonly onToolError: 'feedback' | 'throw'
  readonly maxIterations: number
  readonly onMaxIterations: 'error' | 'answer'
  readonly middlewares: readonly Middleware[]
  readonly tools: readonly (Tool | ToolSource)[]
}

/**
 * Makes a chat agent: it calls a model, executes the tool calls, and calls the model again until there is an answer.
 * Throws INVALID_AGENT when the options make no sense.
 *
 * @example
 * const agent = defineAgent({ name: 'concierge', instructions: 'Help guests.', model, tools: [weather, book] })
 */
export function defineAgent(options: AgentOptions): Agent {
  checkAgentOptions(options)
  const { name, description = '', maxIterations = 20, tools = [] } = options
  checkNumber('maxIterations', maxIterations, { min: 1, isInteger: true })
  const known = tools.filter((tool): tool is Tool => 'call' in tool)
  checkTools(known, name)
  const { subAgents = [], transferToPeers = false, maxTransfers = 20 } = options
  const config: ChatConfig = {
    ...options,
    output: options.output && createOutput(options.output, name),
    retry: toRetryPolicy(options.retry),
    onToolError: options.onToolError ?? 'feedback',
    maxIterations,
    onMaxIterations: options.onMaxIterations ?? 'error',
    middlewares: options.middlewares ?? [],
    tools,
  }
  const own: Agent = {
    name,
    description,
    shape: {
      kind: 'chat',
      name,
      tools: Object.fromEntries(known.map((tool) => [tool.name, tool.shape ?? true])),
    },
    run: withPredictedState((ctx) => runChat(config, ctx), {
      predictState: options.predictState,
      tools: knownTools(config),
    }),
    outline: (about) => outlineChat(config, about),
    ...(options.capabilities === undefined ? {} : { capabilities: options.capabilities }),
    ...(options.examples === undefined ? {} : { examples: options.examples }),
    ...limitsMember(options.limits),
    ...privateKeysMember(known.map(({ privateKeys }) => privateKeys)),
  }
  const lead = withHistory(own, options.historyRewriter)
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

function checkAgentOptions(options: AgentOptions): void {
  checkGiven('defineAgent', options, '{ name, model }')
  const { name, model, failover = [], tools = [], middlewares = [], subAgents = [] } = options
  checkName(name, 'An agent')
  const of = `Agent '${name}'`
  if (typeof model !== 'function') checkModel(model, of)
  checkList(failover, { of, option: 'failover', what: 'models' })
  for (const one of failover) checkModel(one, of)
  checkToolList(tools, of)
  checkMiddlewares(middlewares, of)
  checkAgents(subAgents, { of, option: 'subAgents', mayBeEmpty: true })
}

/** The names of the agent's tools. Undefined if sources or middlewares may add some. */
function knownTools({ tools, middlewares }: ChatConfig): readonly string[] | undefined {
  if (middlewares.length > 0) return undefined
  const own = tools.flatMap((tool) => ('call' in tool ? [tool.name] : []))
  return own.length === tools.length ? own : undefined
}

/** A user message, for conversations written by hand. */
export function userMessage(content: string, id: string = crypto.randomUUID()): Message {
  return { id, role: 'user', content }
}

import { MillraceError } from '../../core/errors.js'
import type { RunContext, Tool } from '../contract.js'
import type { AgentSetup, Middleware } from './middleware.js'
import { transferTool } from '../transfer/transfer-tool.js'
import type { ChatConfig } from './chat-agent.js'
import type { Tool as ToolInfo } from '@ag-ui/core'
import type { ModelRequest } from '../../models/index.js'
import type { Conversation } from './conversation.js'
import type { CallRequest } from './answer.js'
import type { Output } from './output.js'

/** What one run of a chat agent works with. */
export interface Toolbox {
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
}

/** Asks the tool sources and the middlewares what this run has: also when it is a resumed one. */
export async function openToolbox(config: ChatConfig, ctx: RunContext): Promise<Toolbox> {
  const { instructions = '' } = config
  let setup: AgentSetup = {
    instructions: typeof instructions === 'function' ? await instructions(ctx) : instructions,
    tools: [...config.tools, ...transferTools(config, ctx)],
  }
  for (const middleware of config.middlewares) setup = await started(middleware, setup, ctx)
  const lists = await Promise.all(
    setup.tools.map(async (entry) => ('call' in entry ? [entry] : entry.tools({ signal: ctx.signal }))),
  )
  const tools = lists.flat()
  checkTools(tools, config.name)
  return { instructions: setup.instructions, tools: new Map(tools.map((tool) => [tool.name, tool])) }
}

function transferTools({ disallowTransferToParent = false }: ChatConfig, ctx: RunContext): Tool[] {
  const targets = ctx.transferTargets.filter(
    ({ relation }) => relation !== 'parent' || !disallowTransferToParent,
  )
  return targets.length > 0 ? [transferTool(targets)] : []
}

async function started(middleware: Middleware, setup: AgentSetup, ctx: RunContext): Promise<AgentSetup> {
  const changes = await middleware.onStart?.(setup, ctx)
  return changes ? { ...setup, ...changes } : setup
}

/** Throws INVALID_AGENT when two tools have one name. */
export function checkTools(tools: readonly Tool[], agentName: string): void {
  const names = new Set<string>()
  for (const { name } of tools) {
    if (names.has(name)) {
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${agentName}' has two tools named '${name}'. Rename one.`,
      )
    }
    names.add(name)
  }
}

interface RequestParts {
  readonly config: ChatConfig
  readonly ctx: RunContext
  readonly toolbox: Toolbox
  readonly conversation: Conversation
  readonly output: Output | undefined
}

const hurry = 'Answer now with what you know. Do not call any tools.'

/** What the model is asked next. The last time it is asked to come to an end. */
export function createRequest(parts: RequestParts, isLast: boolean): ModelRequest {
  const { config, ctx, toolbox, conversation, output } = parts
  const instructions = [toolbox.instructions, isLast ? hurry : ''].filter(Boolean).join('\n\n')
  const tools = toolInfos(toolbox, ctx.client.tools)
  const messages = conversation.view()
  return {
    ...(instructions === '' ? {} : { instructions }),
    get messages() {
      return messages()
    },
    ...(tools.length > 0 ? { tools } : {}),
    ...(isLast && tools.length > 0 ? { toolChoice: 'none' } : {}),
    ...(output ? { output: { schema: output.schema } } : {}),
    ...(config.settings ? { settings: config.settings } : {}),
    signal: ctx.signal,
  }
}

/** A client's tool with the name of one of the agent's is not offered: the agent's own is. */
function toolInfos({ tools }: Toolbox, clientTools: readonly ToolInfo[]): ToolInfo[] {
  const own = [...tools.values()].map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }))
  return [...own, ...clientTools.filter(({ name }) => !tools.has(name))]
}

/** The ids of the calls that are for the client. */
export function clientCallsIn(
  calls: readonly CallRequest[],
  { ctx, toolbox }: Pick<RequestParts, 'ctx' | 'toolbox'>,
): string[] {
  const names = new Set(ctx.client.tools.map(({ name }) => name))
  return calls.filter(({ name }) => names.has(name) && !toolbox.tools.has(name)).map(({ id }) => id)
}

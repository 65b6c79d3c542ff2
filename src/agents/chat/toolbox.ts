import { MillraceError } from '../../core/errors.js'
import type { RunContext } from '../agent.js'
import type { AgentSetup, Middleware } from '../middleware.js'
import type { Tool } from '../tool.js'
import { transferTool } from '../transfer/transfer-tool.js'
import type { ChatConfig } from './chat-agent.js'

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

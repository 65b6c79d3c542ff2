import type { Tool as ToolInfo } from '@ag-ui/core'
import { contextForModels } from '../../bridge/model-context.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Model, ModelRequest, ModelSettings } from '../../models/index.js'
import type { RunContext, Tool } from '../contract.js'
import { teamToolName, transferToolName } from '../history/rewrite-history.js'
import { transferTool } from '../transfer/transfer-tool.js'
import type { CallRequest } from './model-answer.js'
import type { ChatConfig } from './chat-agent.js'
import type { LoopState } from './loop-state.js'
import type { AgentSetup } from './middleware.js'

/** The models, instructions and tools of one run. */
export interface Toolbox {
  /** The model to call first, then those for failover. */
  readonly models: readonly Model[]
  readonly settings: ModelSettings | undefined
  readonly instructions: string
  readonly tools: ReadonlyMap<string, Tool>
}

/** Gathers instructions and tools from the options, the middlewares and the tool sources. Also in a resumed run. */
export async function openToolbox(config: ChatConfig, ctx: RunContext): Promise<Toolbox> {
  const { instructions = '', disallowTransferToParent = false } = config
  const targets = ctx.transferTargets.filter(
    ({ relation }) => relation !== 'parent' || !disallowTransferToParent,
  )
  let setup: AgentSetup = {
    instructions: typeof instructions === 'function' ? await instructions(ctx) : instructions,
    tools: targets.length > 0 ? [...config.tools, transferTool(targets)] : config.tools,
  }
  for (const middleware of config.middlewares) {
    const changes = await middleware.onStart?.(setup, ctx)
    if (changes) setup = { ...setup, ...changes }
  }
  const lists = await Promise.all(
    setup.tools.map(async (entry) => ('call' in entry ? [entry] : entry.tools({ signal: ctx.signal }))),
  )
  const tools = lists.flat()
  checkTools(tools, config.name)
  const { model, failover = [], settings } = config
  return {
    models: [typeof model === 'function' ? model(ctx) : model, ...failover],
    settings: typeof settings === 'function' ? settings(ctx) : settings,
    instructions: setup.instructions,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
  }
}

/** Throws INVALID_AGENT when two tools have the same name. */
export function checkTools(tools: readonly Tool[], agentName: string): void {
  const names = new Set<string>()
  for (const { name } of tools) {
    if (names.has(name))
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${agentName}' has two tools named '${name}'. Rename one.`,
      )
    names.add(name)
  }
}

const answerNow = 'Answer now with what you know. Do not call any tools.'

/** The next request to the model. The last one asks it to finish without tools. */
export function createRequest(loop: LoopState, isLast: boolean): ModelRequest {
  const { config, ctx, toolbox, conversation } = loop
  const instructions = [toolbox.instructions, isLast ? answerNow : ''].filter(Boolean).join('\n\n')
  const tools = toolInfos(toolbox, ctx.client.tools)
  const toolChoice = isLast && tools.length > 0 ? 'none' : wantedTool(ctx.client)
  const messages = conversation.view()
  const context = describeContext(contextForModels(ctx.client))
  return {
    ...(instructions === '' ? {} : { instructions }),
    get messages() {
      return messages()
    },
    ...(context === '' ? {} : { context }),
    ...(tools.length > 0 ? { tools } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(config.output ? { output: { schema: config.output.schema } } : {}),
    ...(toolbox.settings ? { settings: toolbox.settings } : {}),
    onSkipped: (message) => {
      if (loop.skipped.has(message)) return
      loop.skipped.add(message)
      ctx.services.report(message)
    },
    signal: ctx.signal,
  }
}

/** The client's own tool that the client wants to be called: `forwardedProps.toolChoice`, in the form of OpenAI. */
function wantedTool({ tools, forwardedProps }: RunContext['client']): ModelRequest['toolChoice'] {
  const choice = isRecord(forwardedProps) ? forwardedProps.toolChoice : undefined
  const called = isRecord(choice) ? choice.function : undefined
  const name = isRecord(called) ? called.name : undefined
  const tool = tools.find((each) => each.name === name)
  return tool && { toolName: tool.name }
}

/** The client's `context` as text. Clients may send anything, so it is no instruction. */
function describeContext(context: RunContext['client']['context']): string {
  if (context.length === 0) return ''
  const lines = context.map(({ description, value }) => `${description}: ${value}`)
  return ['Context from the application, as it is now:', ...lines].join('\n')
}

/**
 * The agent's tools and those of the client. A client tool with the name of an agent's tool is not offered, nor is the one
 * by which other runtimes transfer to an agent that can.
 */
function toolInfos({ tools }: Toolbox, clientTools: readonly ToolInfo[]): ToolInfo[] {
  const own = [...tools.values()].map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }))
  const hidden = tools.has(transferToolName) ? teamToolName : undefined
  return [...own, ...clientTools.filter(({ name }) => !tools.has(name) && name !== hidden)]
}

/** The ids of the calls that are for the client. */
export function clientCallsIn(
  calls: readonly CallRequest[],
  { ctx, toolbox }: Pick<LoopState, 'ctx' | 'toolbox'>,
): string[] {
  const names = new Set(ctx.client.tools.map(({ name }) => name))
  return calls.filter(({ name }) => names.has(name) && !toolbox.tools.has(name)).map(({ id }) => id)
}

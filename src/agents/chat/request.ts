import type { Tool as ToolInfo } from '@ag-ui/core'
import type { ModelRequest } from '../../models/index.js'
import type { RunContext } from '../agent.js'
import type { ChatConfig } from './chat-agent.js'
import type { Conversation } from './conversation.js'
import type { CallRequest } from './draft.js'
import type { Output } from './output.js'
import type { Toolbox } from './toolbox.js'

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

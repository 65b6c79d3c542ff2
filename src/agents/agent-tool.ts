import type { Message } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import { createFold, type AgentEvent } from '../protocol/index.js'
import type { Agent, Control } from './agent.js'
import { isRejected } from './chat/rejected.js'
import { agentTree } from './checkpoint.js'
import type { Tool, ToolContext } from './tool.js'

/**
 * An agent as a tool of another: the model gives it a request, and gets its last answer. What the agent does meanwhile
 * is shown live, as a subagent. Its questions to a person pass through; its exit and transfer stay inside.
 */
export function agentTool(agent: Agent): Tool {
  if (agent.description.trim() === '') {
    throw new MillraceError(
      'INVALID_AGENT',
      `Agent '${agent.name}' needs a description to be used as a tool.`,
    )
  }
  return {
    name: agent.name,
    description: agent.description,
    shape: agentTree(agent),
    parameters: {
      type: 'object',
      properties: {
        request: { type: 'string', description: 'What the agent is to do, with all it needs to know.' },
      },
      required: ['request'],
      additionalProperties: false,
    },
    async call(args, ctx) {
      const request = Reflect.get(Object(args), 'request') as unknown
      if (typeof request !== 'string') {
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', `'${agent.name}' needs a request: a text.`)
      }
      return runAsTool(agent, { id: `${ctx.toolCallId}-request`, role: 'user', content: request }, ctx)
    },
  }
}

async function runAsTool(agent: Agent, request: Message, ctx: ToolContext): Promise<unknown> {
  const source = ctx.delegate(agent, { messages: [request] })
  const said = createFold()
  let own: string | undefined
  for (;;) {
    const step = await source.next()
    if (step.done === true) return resultOf(step.value, said.messages)
    const event = step.value
    // The first one announces the agent itself; its own subagents come later.
    if (event.type === 'SUBAGENT_STARTED') own ??= event.subagentRunId
    if (isText(event) && event.subagentRunId === own) said.apply(event)
  }
}

function isText(
  event: AgentEvent,
): event is Extract<AgentEvent, { type: `TEXT_MESSAGE_${'START' | 'CONTENT'}` }> {
  return event.type === 'TEXT_MESSAGE_START' || event.type === 'TEXT_MESSAGE_CONTENT'
}

function resultOf(control: Control, messages: readonly Message[]): unknown {
  if (control.type === 'cancelled') return 'Cancelled before it was finished.'
  if ('result' in control && control.result !== undefined) return control.result
  return messages.findLast((message) => !isRejected(message))?.content ?? ''
}

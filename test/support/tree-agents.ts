import type { Agent, Control, RunContext, Tool, ToolContext } from '../../src/agents/contract.js'
import { defineAgent, type AgentOptions } from '../../src/agents/chat/chat-agent.js'
import { defineTool } from '../../src/agents/tools/define-tool.js'
import { scriptedModel, type Script, type ScriptedModel } from '../../src/models/index.js'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'
import { ofType } from './run-agent.js'

export const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })
export const request = (id: string, name: string) => call(id, name, { request: `Do ${id}.` })
export const transfer = (id: string, to: string) => call(id, 'transfer_to_agent', { agent_name: to })

export interface ChatAgent {
  readonly agent: Agent
  readonly model: ScriptedModel
}

/** An agent with a scripted model. */
export function chat(name: string, script: Script, options: Partial<AgentOptions> = {}): ChatAgent {
  const model = scriptedModel(script)
  return { model, agent: defineAgent({ name, description: `The ${name}.`, model, ...options }) }
}

/** An agent written by hand. */
export function agentOf(name: string, run: Agent['run']): Agent {
  return { name, description: `The ${name}.`, run }
}

/** An agent that says one thing and ends in some way. */
export function saying(name: string, text: string, end: Control = { type: 'done' }): Agent {
  return agentOf(name, async function* (ctx) {
    yield* words(text, ctx)
    return await Promise.resolve(end)
  })
}

/** The events of a message. */
export function* words(text: string, { services }: Pick<RunContext, 'services'>): Generator<AgentEvent> {
  const messageId = services.newId('message')
  yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
  yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text }
  yield { type: 'TEXT_MESSAGE_END', messageId }
}

export function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

/** A tool that asks `Book <call>?`. */
export const book = toolOf('book', async ({ interrupt, toolCallId }) => {
  const answer = await interrupt({ message: `Book ${toolCallId}?` })
  return answer.status === 'resolved' ? `booked ${JSON.stringify(answer.payload)}` : 'dropped'
})

/** Messages as `role: text`, in order; calls as `role: -> tool`. */
export function linesOf(
  messages: readonly {
    readonly role: string
    readonly content?: unknown
    readonly toolCalls?: readonly { readonly function: { readonly name: string } }[]
  }[] = [],
): string[] {
  return messages.flatMap(({ role, content, toolCalls = [] }) => [
    ...(typeof content === 'string' ? [`${role}: ${content}`] : []),
    ...toolCalls.map((one) => `${role}: -> ${one.function.name}`),
  ])
}

/** The names of the agents whose spans were opened, in order. */
export function startedIn(events: readonly AgUiEvent[]): string[] {
  return ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)
}

/** The texts that were said, in the order in which they began. */
export function textsIn(events: readonly AgUiEvent[]): string[] {
  const texts = new Map<string, string>()
  for (const { messageId, delta } of ofType(events, 'TEXT_MESSAGE_CONTENT'))
    texts.set(messageId, (texts.get(messageId) ?? '') + delta)
  return [...texts.values()]
}

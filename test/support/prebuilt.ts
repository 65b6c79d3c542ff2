import type { Agent, Control, RunContext } from '../../src/agents/contract.js'
import { defineAgent, type AgentOptions } from '../../src/agents/chat/chat-agent.js'
import { defineTool } from '../../src/agents/tools/define-tool.js'
import { planExecute, type PlanExecuteOptions } from '../../src/agents/prebuilt/plan-execute.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'

export const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })
export const transfer = (id: string, to: string) => call(id, 'transfer_to_agent', { agent_name: to })

/** A chat agent and the model that plays its part. */
export function chat(name: string, script: Script, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script)
  return { model, agent: defineAgent({ name, description: `The ${name}.`, model, ...options }) }
}

/** An agent that says nothing and ends as it is told. */
export function agentOf(name: string, end: (ctx: RunContext) => Control): Agent {
  return {
    name,
    description: `The ${name}.`,
    async *run(ctx) {
      yield* await Promise.resolve<AgentEvent[]>([])
      return end(ctx)
    },
  }
}

/** Asks before it books. */
export const book = defineTool({
  name: 'book',
  description: 'Books.',
  execute: async (_args, { interrupt }) => {
    const answer = await interrupt({ message: 'Book?' })
    return answer.status === 'resolved' ? `booked ${JSON.stringify(answer.payload)}` : 'dropped'
  },
})

type Told = readonly { readonly role: string; readonly content?: unknown }[]

export function textsOf(messages: Told = []): unknown[] {
  return messages.map(({ role, content }) => [role, content])
}

/** What a client sees, a line for each: who starts, says, calls, gets and ends. The root is the one without a span. */
export function shownIn(events: readonly AgUiEvent[], root = 'boss'): string[] {
  const names = new Map<string | undefined, string>([[undefined, root]])
  const who = ({ subagentRunId }: { readonly subagentRunId?: string | undefined }): string =>
    names.get(subagentRunId) ?? '?'
  return events.flatMap((event): string[] => {
    switch (event.type) {
      case 'SUBAGENT_STARTED':
        names.set(event.subagentRunId, event.name)
        return [`${event.name} starts`]
      case 'SUBAGENT_FINISHED':
        return [`${who(event)} ends`]
      case 'SUBAGENT_ERROR':
        return [`${who(event)} fails`]
      case 'TEXT_MESSAGE_CONTENT':
        return [`${who(event)} says ${event.delta}`]
      case 'TOOL_CALL_START':
        return [`${who(event)} calls ${event.toolCallName}`]
      case 'TOOL_CALL_RESULT':
        return [`${who(event)} gets ${typeof event.content === 'string' ? event.content : '...'}`]
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        return [event.type]
      default:
        return []
    }
  })
}

/** What planners and replanners say. */
export const plan = (...steps: string[]) => JSON.stringify({ steps })
export const goOn = (...steps: string[]) => JSON.stringify({ type: 'plan', response: '', steps })
export const respond = (response: string) => JSON.stringify({ type: 'respond', response, steps: [] })

interface Parts extends Partial<PlanExecuteOptions> {
  readonly plans: Script
  readonly does: Script
  readonly decides: Script
  readonly tools?: AgentOptions['tools']
}

/** An agent that plans, and the models that play its parts. */
export function trip({ plans, does, decides, tools = [], ...options }: Parts) {
  const [planner, replanner] = [scriptedModel(plans), scriptedModel(decides)]
  const executor = chat('executor', does, { tools })
  const crew = { name: 'trip', planner, replanner, executor: executor.agent }
  const agent = planExecute({ ...crew, description: 'Plans trips.', ...options })
  return { agent, planner, replanner, executor: executor.model }
}

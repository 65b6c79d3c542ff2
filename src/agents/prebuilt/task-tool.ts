import { MillraceError } from '../../core/errors.js'
import type { Agent, Tool } from '../contract.js'
import { agentTool } from '../tools/agent-tool.js'
import { agentTree } from '../interrupts/checkpoint.js'

const about = [
  'Gives a piece of work to another agent, which does it by itself and reports back.',
  'It knows nothing of this conversation: describe all that it needs to know, and what it is to report.',
  'Work that does not depend on each other can be given out at once, with several calls. The agents:',
].join(' ')

/**
 * The tool by which a model gives work to agents by name. Each call runs one afresh, which hears nothing but the
 * description. Throws INVALID_AGENT when two have one name, or one has no description to be chosen by.
 */
export function taskTool(agents: readonly Agent[], owner: string): Tool {
  const tools = new Map(agents.map((agent) => [agent.name, agentTool(agent)]))
  if (tools.size < agents.length)
    throw new MillraceError('INVALID_AGENT', `Agent '${owner}' has two agents of one name. Rename one.`)
  const names = [...tools.keys()]
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  return {
    name: 'task',
    description: `${about}\n${list}`,
    shape: Object.fromEntries(agents.map((agent) => [agent.name, agentTree(agent)])),
    parameters: {
      type: 'object',
      properties: {
        subagent_type: { type: 'string', enum: names, description: 'The agent to give the work to.' },
        description: { type: 'string', description: 'The work, with all that the agent needs to know.' },
      },
      required: ['subagent_type', 'description'],
      additionalProperties: false,
    },
    timeoutMs: Infinity,
    call(args, ctx) {
      const name: unknown = Reflect.get(Object(args) as object, 'subagent_type')
      const request: unknown = Reflect.get(Object(args) as object, 'description')
      const tool = typeof name === 'string' ? tools.get(name) : undefined
      if (!tool) {
        const message = `There is no agent '${String(name)}'. Agents: ${names.join(', ')}.`
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', message)
      }
      if (typeof request !== 'string' || request.trim() === '')
        throw new MillraceError('INVALID_TOOL_ARGUMENTS', "A 'description' of the work is missing.")
      return tool.call({ request }, ctx)
    },
  }
}

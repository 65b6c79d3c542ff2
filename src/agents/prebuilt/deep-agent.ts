import { MillraceError } from '../../core/errors.js'
import { checkAgents, checkGiven, checkName } from '../check-agent.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { checkMiddlewares, checkToolList } from '../chat/check-options.js'
import type { Agent, Tool } from '../contract.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { privateKeysMember } from '../private-keys.js'
import { fileWorkspace } from '../middlewares/files/file-workspace.js'
import type { Files } from '../middlewares/files/files.js'
import { stateFiles } from '../middlewares/files/state-files.js'
import { extendInstructions } from '../middlewares/instructions.js'
import { todoList } from '../middlewares/todo-list.js'
import { agentTool } from '../tools/agent-tool.js'

export interface DeepAgentOptions extends Omit<
  AgentOptions,
  'subAgents' | 'transferToPeers' | 'disallowTransferToParent' | 'maxTransfers'
> {
  /** Agents to delegate to, besides `general-purpose`, a copy of this agent. An agent of that name replaces the copy. */
  readonly subAgents?: readonly Agent[]
  /** The backend for its files. Default: the shared state, where the client can show them. */
  readonly files?: Files
  /** The most model calls of one run. Default 50. */
  readonly maxIterations?: number
}

const guidance = [
  'Work until the request is met. Keep long texts and interim results in files, so that they are there when you need them.',
  'Give work that takes many steps of its own, or that can be done beside other work, to another agent with the tool `task`.',
].join(' ')

const generalPurpose = 'general-purpose'

/**
 * An agent for long work: it keeps a todo list and files, both in the shared state, and delegates parts of the work to
 * subagents, each with its own context. One of them is always there: `general-purpose`, with the same model, tools, files
 * and middlewares. Throws INVALID_AGENT for options that make no sense.
 *
 * @example
 * const researcher = deepAgent({ name: 'researcher', model, tools: [search], subAgents: [critic] })
 */
export function deepAgent(given: DeepAgentOptions): Agent {
  checkGiven('deepAgent', given, '{ name, model }')
  const { subAgents = [], files = stateFiles(), ...options } = given
  const { name, instructions, tools = [], middlewares = [], maxIterations = 50 } = options
  const of = `Agent '${name}'`
  checkName(name, 'An agent')
  checkAgents(subAgents, { of, option: 'subAgents', mayBeEmpty: true })
  checkToolList(tools, of)
  checkMiddlewares(middlewares, of)
  const workspace = fileWorkspace({ backend: files })
  const shared = { ...options, maxIterations, middlewares: [workspace, ...middlewares] }
  const isReplaced = subAgents.some((agent) => agent.name === generalPurpose)
  const agents = isReplaced ? subAgents : [createGeneralPurposeAgent(shared), ...subAgents]
  const agent = defineAgent({
    ...shared,
    instructions: extendInstructions(instructions, guidance),
    tools: [...tools, taskTool(agents, name)],
    // Last: what it adds to a request is not for other middlewares to shorten.
    middlewares: [...shared.middlewares, todoList()],
  })
  return { ...agent, outline: async (about) => ({ ...(await agent.outline?.(about)), kind: 'deep' }) }
}

/** A copy without `task`, and without the todo list, which belongs to the work as a whole. */
function createGeneralPurposeAgent(options: AgentOptions): Agent {
  const { output: _output, outputKey: _outputKey, examples: _examples, ...shared } = options
  return defineAgent({
    ...shared,
    name: generalPurpose,
    description: 'Can do all that you can, but give out work: for anything that no other agent is made for.',
  })
}

const taskDescription = [
  'Gives a piece of work to another agent, which does it by itself and reports back.',
  'It knows nothing of this conversation: describe all that it needs to know, and what it is to report.',
  'Work that does not depend on each other can be given out at once, with several calls. The agents:',
].join(' ')

/**
 * Delegates work to agents by name. Each call is a fresh run that gets nothing but the description. Throws INVALID_AGENT
 * for two agents of one name, and for one without a description.
 */
function taskTool(agents: readonly Agent[], owner: string): Tool {
  const tools = new Map(agents.map((agent) => [agent.name, agentTool(agent)]))
  if (tools.size < agents.length)
    throw new MillraceError('INVALID_AGENT', `Agent '${owner}' has two agents of one name. Rename one.`)
  const names = [...tools.keys()]
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  return {
    name: 'task',
    description: `${taskDescription}\n${list}`,
    shape: Object.fromEntries(agents.map((agent) => [agent.name, agentTree(agent)])),
    agents,
    ...privateKeysMember(agents.map(({ privateKeys }) => privateKeys)),
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

import type { Agent } from '../contract.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { fileWorkspace } from '../middlewares/files/file-workspace.js'
import type { Files } from '../middlewares/files/files.js'
import { stateFiles } from '../middlewares/files/state-files.js'
import { todoList } from '../middlewares/todo-list.js'
import { moreInstructions } from './more-instructions.js'
import { taskTool } from './task-tool.js'

export interface DeepAgentOptions extends Omit<
  AgentOptions,
  'subAgents' | 'transferToPeers' | 'disallowTransferToParent' | 'maxTransfers'
> {
  /** Agents to give work to, beside `general-purpose`, which is this agent again. One of that name takes its place. */
  readonly subAgents?: readonly Agent[]
  /** Where its files are. Default: in the shared state, where the client can show them. */
  readonly files?: Files
  /** How often the model may be asked in one run. Default 50. */
  readonly maxIterations?: number
}

const guidance = [
  'Work until the request is met. Keep long texts and interim results in files, so that they are there when you need them.',
  'Give work that takes many steps of its own, or that can be done beside other work, to another agent with the tool `task`.',
].join(' ')

const cloneName = 'general-purpose'

/**
 * An agent for long work: it keeps a list of steps and files, both in the shared state, and gives pieces of the work to
 * other agents, each with a context of its own. One of those is there always: `general-purpose`, with the same model, tools,
 * files and middlewares. Throws INVALID_AGENT when the options make no sense.
 *
 * @example
 * const researcher = deepAgent({ name: 'researcher', model, tools: [search], subAgents: [critic] })
 */
export function deepAgent({ subAgents = [], files = stateFiles(), ...options }: DeepAgentOptions): Agent {
  const { name, instructions, tools = [], middlewares = [], maxIterations = 50 } = options
  const workspace = fileWorkspace({ backend: files })
  const shared = { ...options, maxIterations, middlewares: [workspace, ...middlewares] }
  const hasOwn = subAgents.some((agent) => agent.name === cloneName)
  const agents = hasOwn ? subAgents : [cloneOf(shared), ...subAgents]
  return defineAgent({
    ...shared,
    instructions: moreInstructions(instructions, guidance),
    tools: [...tools, taskTool(agents, name)],
    middlewares: [todoList(), ...shared.middlewares],
  })
}

/** The same agent for a part of the work. Without the list, which is the one of the whole, and without `task`. */
function cloneOf(options: AgentOptions): Agent {
  const { output: _output, outputKey: _outputKey, examples: _examples, ...shared } = options
  return defineAgent({
    ...shared,
    name: cloneName,
    description: 'Can do all that you can, but give out work: for anything that no other agent is made for.',
  })
}

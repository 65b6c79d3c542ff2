import type { Agent, AgentOutline, OutlinedAgent, OutlinedTool, OutlineOptions } from './contract.js'

/** An agent with all that it is made of. Where it is made of one that stands above, there is a reference. */
export interface OutlineNode extends Omit<AgentOutline, 'agents' | 'tools'> {
  readonly name: string
  readonly description: string
  readonly examples: readonly string[]
  readonly tools: readonly OutlinedTool[]
  readonly agents: readonly (OutlineNode | OutlineReference)[]
}

export interface OutlineReference {
  readonly ref: string
}

/** So deep and so large a tree can be drawn. What is beyond becomes a reference. */
const maxDepth = 16
const maxNodes = 1000

/** Asks an agent, and those inside it, for their outlines. One that has none, or fails to tell, is shown by its name. */
export async function outlineTree(agent: OutlinedAgent, options: OutlineOptions): Promise<OutlineNode> {
  let count = 0
  const visit = async (
    part: OutlinedAgent,
    above: readonly OutlinedAgent[],
  ): Promise<OutlineNode | OutlineReference> => {
    if (above.includes(part) || above.length >= maxDepth || count >= maxNodes) return { ref: part.name }
    return toNode(part, above)
  }
  const toNode = async (part: OutlinedAgent, above: readonly OutlinedAgent[]): Promise<OutlineNode> => {
    count++
    const { agents = [], tools = [], ...own } = await outlineOf(part, options)
    const { name, description, examples = [] } = part
    const below: (OutlineNode | OutlineReference)[] = []
    for (const inner of agents) below.push(await visit(inner, [...above, part]))
    return { name, description, examples, ...own, tools, agents: below }
  }
  return toNode(agent, [])
}

async function outlineOf(part: OutlinedAgent, options: OutlineOptions): Promise<AgentOutline> {
  try {
    return (await part.outline?.(options)) ?? unknown
  } catch {
    return unknown
  }
}

const unknown: Awaited<ReturnType<NonNullable<Agent['outline']>>> = { kind: 'custom' }

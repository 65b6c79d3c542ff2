import {
  AgentTool,
  BaseNode,
  isBaseAgent,
  isBaseToolset,
  isLlmAgent,
  isWorkflow,
  type BaseTool,
  type LlmAgent,
} from '@google/adk'
import type { AgentOutline, OutlinedAgent, OutlinedTool, OutlineKind } from '../../agents/index.js'
import { isRecord } from '../../core/json.js'
import { placeholderOptions } from '../tools/client-tools.js'
import { agentKind, type AgentKind } from './agent-internals.js'

const kinds: Readonly<Record<AgentKind, OutlineKind>> = {
  llm: 'adk',
  sequential: 'sequence',
  loop: 'loop',
  parallel: 'parallel',
  routed: 'adk',
}

/** What an agent or a workflow of ADK is made of. */
export async function outlineAdk(node: unknown): Promise<AgentOutline> {
  if (!(node instanceof BaseNode)) return { kind: 'adk', runtime: 'adk' }
  if (isWorkflow(node)) return outlineWorkflow(node)
  if (!isBaseAgent(node)) return { kind: 'node', runtime: 'adk' }
  const kind = agentKind(node)
  const own = isLlmAgent(node) ? await outlineLlm(node) : { tools: [], agents: [] }
  const agents = [...node.subAgents.map(outlined), ...own.agents]
  return { kind: kind === undefined ? 'adk' : kinds[kind], runtime: 'adk', ...own, agents }
}

function outlined(node: BaseNode): OutlinedAgent {
  const { name, description } = node
  return { name, description, outline: () => outlineAdk(node) }
}

function outlineWorkflow({ graph }: { readonly graph?: WorkflowGraph | undefined }): AgentOutline {
  return {
    ...{ kind: 'graph', runtime: 'adk' },
    agents: (graph?.nodes ?? []).map(outlined),
    edges: (graph?.edges ?? []).map(({ fromNode, toNode, route }) => ({
      ...{ from: fromNode.name, to: toNode.name },
      ...(typeof route === 'string' ? { label: route } : {}),
    })),
  }
}

interface WorkflowGraph {
  readonly nodes: readonly BaseNode[]
  readonly edges: readonly {
    readonly fromNode: BaseNode
    readonly toNode: BaseNode
    readonly route?: unknown
  }[]
}

async function outlineLlm(
  agent: LlmAgent,
): Promise<{ readonly model?: string; readonly tools: OutlinedTool[]; readonly agents: OutlinedAgent[] }> {
  const tools: BaseTool[] = []
  for (const entry of agent.tools) {
    if (placeholderOptions(entry)) continue
    // A toolset may be a server that is down.
    if (isBaseToolset(entry)) tools.push(...(await entry.getTools().catch(() => [])))
    else if ('name' in entry) tools.push(entry as BaseTool)
  }
  const model = modelName(agent)
  return {
    ...(model === undefined ? {} : { model }),
    tools: tools.map(outlineTool),
    agents: tools.flatMap((tool) => {
      const inner: unknown = tool instanceof AgentTool ? Reflect.get(tool, 'agent') : undefined
      return isBaseAgent(inner) ? [outlined(inner)] : []
    }),
  }
}

function modelName({ model }: LlmAgent): string | undefined {
  if (typeof model === 'string') return model
  const name: unknown = isRecord(model) ? model.model : Reflect.get(Object(model) as object, 'model')
  return typeof name === 'string' ? name : undefined
}

function outlineTool(tool: BaseTool): OutlinedTool {
  const declared = tool._getDeclaration()
  const parameters =
    declared?.parametersJsonSchema ?? toJsonSchema(declared?.parameters ?? { type: 'object' })
  return {
    name: tool.name,
    description: declared?.description ?? tool.description,
    parameters: isRecord(parameters) ? parameters : { type: 'object' },
  }
}

/** Gemini writes the types of a schema in capitals. */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema)
  if (!isRecord(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'type' && typeof value === 'string' ? value.toLowerCase() : toJsonSchema(value),
  ])
  return Object.fromEntries(entries) as unknown
}

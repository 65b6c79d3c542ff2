import { isBaseToolset, isLlmAgent, isWorkflow, type Runner } from '@google/adk'
import { MillraceError } from '../../core/errors.js'
import type { AdkOptions } from '../contract.js'
import { indexAgents } from '../tree/agent-index.js'
import { agentKind } from '../tree/agent-internals.js'
import { placeholderOptions } from './client-tools.js'

/**
 * The names of all tools in a tree, besides those of clients. Undefined if only a run knows them: of a toolset, an agent of
 * the team's own class, or a workflow that is a function.
 */
export function knownToolNames({ agent: root }: Runner): readonly string[] | undefined {
  if (isWorkflow(root) && !root.graph) return undefined
  const names: string[] = []
  for (const agent of indexAgents(root).agents) {
    if (agentKind(agent) === undefined) return undefined
    for (const tool of isLlmAgent(agent) ? agent.tools : []) {
      if (placeholderOptions(tool)) continue
      if (isBaseToolset(tool)) return undefined
      names.push(tool.name)
    }
  }
  return names
}

/** Throws INVALID_AGENT for predicted state of a tool that cannot exist: the agent has no such tool, and takes none of clients. */
export function checkPredictedTools(
  { predictState = [], clientTools }: AdkOptions,
  toolNames: readonly string[] | undefined,
): void {
  if (!toolNames || clientTools !== 'nowhere') return
  for (const { tool } of predictState)
    if (!toolNames.includes(tool))
      throw new MillraceError(
        'INVALID_AGENT',
        `\`predictState\` names the tool '${tool}', which no agent has.`,
      )
}

import type { RunnerConfig } from '@google/adk'
import { isRecord } from '../../core/is-record.js'
import { placeholderOptions, type ClientToolsOptions } from './client-tools.js'

/** What a Runner runs. */
export type Root = NonNullable<RunnerConfig['agent']>

/** Every `clientTools()` in a tree. */
export interface Placeholders {
  readonly placed: readonly ClientToolsOptions[]
  /** Agents where it stands in vain: they run as a tool of another, and have to answer at once. */
  readonly inVain: readonly string[]
}

/**
 * Looks through agents, their sub-agents, the nodes of workflows and what those wrap. Agents
 * that only code knows, as in a dynamic workflow, are not found.
 */
export function findPlaceholders(root: Root): Placeholders {
  const placed: ClientToolsOptions[] = []
  const inVain: string[] = []
  const seen = new Set<unknown>()

  const visit = (value: unknown, isTool: boolean): void => {
    if (!isRecord(value) || seen.has(value)) return
    seen.add(value)
    for (const tool of list(value.tools)) {
      const options = placeholderOptions(tool)
      if (options && isTool) inVain.push(String(value.name))
      else if (options) placed.push(options)
      else visit(tool, true)
    }
    for (const below of list(value.subAgents)) visit(below, isTool)
    if (isRecord(value.graph)) for (const node of list(value.graph.nodes)) visit(node, isTool)
    // What a node that runs another in parallel has inside.
    visit(value.inner, isTool)
    // A tool as a node, a node and an agent as tools.
    for (const inside of [value.tool, value.node, value.agent]) visit(inside, true)
  }
  visit(root, false)
  return { placed, inVain }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

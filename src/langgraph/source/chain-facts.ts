import { isRecord } from '../../core/is-record.js'

/** What LangChain tells when a chain starts. Its types name the last four in another order than it sends them. */
export interface ChainStart {
  readonly serialized: unknown
  readonly input: unknown
  readonly runId: string
  readonly parentRunId: string | undefined
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly name: string | undefined
}

/** The name of a graph that nobody has given one. */
export const unnamedGraph = 'LangGraph'

/** Whether it is a graph. Some functions of LangGraph have an id of its own too, but not of this part. */
export function isGraph({ serialized }: ChainStart): boolean {
  const id = isRecord(serialized) ? serialized.id : undefined
  return Array.isArray(id) && id[0] === 'langgraph' && id[1] === 'pregel'
}

/** Whether it is a node of a graph, one that people have made. */
export function isNode({ tags, metadata, name }: ChainStart): boolean {
  return name !== undefined && name === metadata.langgraph_node && tags.some(isStepTag)
}

function isStepTag(tag: string): boolean {
  return tag.startsWith('graph:step:')
}

/** Whether it is machinery of LangGraph. */
export function isHidden({ tags }: ChainStart): boolean {
  return tags.includes('langsmith:hidden')
}

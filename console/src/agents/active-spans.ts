import type { Subagent } from 'millrace/client'
import type { Box } from './layout.js'

/** An agent or a node that is at work: the names from the root down to it. */
export type ActiveSpan = readonly string[]

/** A step that has begun and not finished, in the run itself or in a subagent. */
export interface OpenStep {
  readonly name: string
  readonly subagentId?: string
}

interface RunActivity {
  readonly root: string
  readonly subagents: readonly Subagent[]
  readonly steps: readonly OpenStep[]
}

/** What is at work in a run, with the root itself. */
export function activeSpans({ root, subagents, steps }: RunActivity): ActiveSpan[] {
  const spanOf = (id: string | undefined): ActiveSpan => {
    const subagent = subagents.find((one) => one.id === id)
    return subagent ? [...spanOf(subagent.parentId), subagent.name] : [root]
  }
  const running = subagents.filter(({ status }) => status === 'running').map(({ id }) => spanOf(id))
  return [[root], ...running, ...steps.map(({ name, subagentId }) => [...spanOf(subagentId), name])]
}

/**
 * The paths of the boxes that are at work. A span need not nest as the agents do (a transfer goes on inside the span it came
 * from), so one that has no box of its own lights those of its name.
 */
export function litBoxes(boxes: readonly Box[], spans: readonly ActiveSpan[]): ReadonlySet<string> {
  const named = boxes.flatMap(({ node, path }) => {
    if ('end' in node || 'ref' in node) return []
    return [{ path, names: namesOf(path), name: node.name }]
  })
  return new Set(
    spans.flatMap((span) => {
      const exact = named.filter(({ names }) => names === span.join('/'))
      const fits = exact.length > 0 ? exact : named.filter(({ name }) => name === span.at(-1))
      return fits.map(({ path }) => path)
    }),
  )
}

/** `mixed/graph#1/agent#0` stands for `mixed/graph/agent`. */
function namesOf(path: string): string {
  return path.replace(/#\d+(?=\/|$)/g, '')
}

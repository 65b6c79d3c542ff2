import { toWireError } from '../../core/errors.js'
import type { Place, Places } from './places.js'
import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'
import type { TranslatorOptions } from './translator.js'

/** How a node or a graph has ended. */
export type ScopeEnd =
  | { readonly type: 'done' }
  | { readonly type: 'suspended' }
  | { readonly type: 'failed'; readonly error: unknown }

interface Step {
  readonly name: string
  readonly span: string | undefined
}

/** Nodes as steps, and graphs inside the graph as subagent spans. */
export interface Scopes {
  startNode(runId: string, parentRunId: string | undefined, node: string): void
  endNode(runId: string): void
  startGraph(runId: string, parentRunId: string | undefined, name: string): void
  endGraph(runId: string, end: ScopeEnd): void
  /** Ends all that is open. */
  finish(end: ScopeEnd): void
}

export interface ScopesOptions extends Pick<TranslatorOptions, 'parentSubagentRunId' | 'subgraphs'> {
  readonly sink: EventSink
  readonly places: Places
}

export function createScopes({ parentSubagentRunId, subgraphs, sink, places }: ScopesOptions): Scopes {
  const steps = new Map<string, Step>()
  const spans = new Set<string>()

  const endStep = (runId: string): void => {
    const step = steps.get(runId)
    if (!step) return
    steps.delete(runId)
    sink.add({ type: 'STEP_FINISHED', stepName: step.name, ...tagged(step.span) })
  }

  const endSpan = (subagentRunId: string, end: ScopeEnd): void => {
    if (!spans.delete(subagentRunId)) return
    for (const [runId, { span }] of steps) if (span === subagentRunId) endStep(runId)
    switch (end.type) {
      case 'done':
        sink.add({ type: 'SUBAGENT_FINISHED', subagentRunId })
        break
      case 'suspended':
        // Which questions it waits for is known to those who ask them.
        sink.add({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' } })
        break
      case 'failed':
        sink.add({ type: 'SUBAGENT_ERROR', subagentRunId, ...toWireError(end.error) })
    }
  }

  return {
    startNode(runId, parentRunId, node) {
      const { span, prefix } = places.enter(runId, parentRunId)
      const name = freeName(`${prefix}${node}`, span, steps)
      steps.set(runId, { name, span })
      sink.add({ type: 'STEP_STARTED', stepName: name, ...tagged(span) })
    },
    endNode: endStep,
    startGraph(runId, parentRunId, name) {
      const around = places.of(parentRunId)
      if (subgraphs === 'steps') {
        places.enter(runId, parentRunId, { prefix: `${around.prefix}${name}/` })
        return
      }
      places.enter(runId, parentRunId, { span: runId, toolCallId: undefined })
      spans.add(runId)
      sink.add({
        type: 'SUBAGENT_STARTED',
        subagentRunId: runId,
        name,
        ...above(around, parentSubagentRunId),
      })
    },
    endGraph: endSpan,
    finish(end) {
      for (const runId of [...spans].reverse()) endSpan(runId, end)
      for (const runId of [...steps.keys()].reverse()) endStep(runId)
    },
  }
}

function above({ span, toolCallId }: Place, root: string | undefined) {
  const parent = span ?? root
  return {
    ...(parent === undefined ? {} : { parentSubagentRunId: parent }),
    ...(toolCallId === undefined ? {} : { parentToolCallId: toolCallId }),
  }
}

/** `name`, or the first of `name#2`, `name#3`, ... that no open step of the same owner has. */
function freeName(name: string, span: string | undefined, steps: ReadonlyMap<string, Step>): string {
  const taken = new Set<string>()
  for (const step of steps.values()) if (step.span === span) taken.add(step.name)
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name}#${n}`
  return free
}

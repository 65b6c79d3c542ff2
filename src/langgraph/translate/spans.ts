import type { EventSink } from '../../bridge/event-sink.js'
import { spanEnded, spanTag, type SpanEnd } from '../../bridge/spans.js'
import type { GraphEventOf } from '../contract.js'
import { raisedInterruptIds } from '../interrupts/to-interrupts.js'
import type { GraphTranslatorOptions } from './graph-translator.js'

/** The position of a LangChain run. It stays the same from the start of the run to its end. */
export interface RunPosition {
  /** The span that the events of the run belong to. Undefined for the run's own agent. */
  readonly subagentRunId: string | undefined
  /** The prefix of step names, if nested graphs have no spans. */
  readonly stepPrefix: string
  /** The tool call that the run works for, within its own graph. */
  readonly toolCallId: string | undefined
}

/** Where an interrupt was raised. */
export type InterruptOrigin = Pick<RunPosition, 'subagentRunId' | 'toolCallId'>

export interface GraphSpansOptions extends Pick<GraphTranslatorOptions, 'parentSubagentRunId' | 'subgraphs'> {
  readonly sink: EventSink
}

interface OpenStep {
  readonly name: string
  readonly subagentRunId: string | undefined
}

const root: RunPosition = { subagentRunId: undefined, stepPrefix: '', toolCallId: undefined }

/** Writes nodes as steps and nested graphs as subagent spans, and knows the position of every LangChain run. */
export class GraphSpans {
  readonly #options: GraphSpansOptions
  readonly #positions = new Map<string, RunPosition>()
  readonly #steps = new Map<string, OpenStep>()
  readonly #origins = new Map<string, InterruptOrigin>()

  constructor(options: GraphSpansOptions) {
    this.#options = options
  }

  /** The position of a run. An unknown run is at the root. */
  of(runId: string | undefined): RunPosition {
    return (runId === undefined ? undefined : this.#positions.get(runId)) ?? root
  }

  /** Adds a run at the position of the run around it, except for the fields in `own`. */
  enter(runId: string, parentRunId: string | undefined, own?: Partial<RunPosition>): RunPosition {
    const around = this.of(parentRunId)
    const position = own ? { ...around, ...own } : around
    this.#positions.set(runId, position)
    return position
  }

  leave(runId: string): void {
    this.#positions.delete(runId)
  }

  startNode({ runId, parentRunId, node }: GraphEventOf<'node-start'>): void {
    const { subagentRunId, stepPrefix } = this.enter(runId, parentRunId)
    const stepName = this.#freeStepName(`${stepPrefix}${node}`, subagentRunId)
    this.#steps.set(runId, { name: stepName, subagentRunId })
    this.#options.sink.add({ type: 'STEP_STARTED', stepName, ...spanTag(subagentRunId) })
  }

  endNode(runId: string): void {
    const step = this.#steps.get(runId)
    if (!step) return
    this.#steps.delete(runId)
    this.#options.sink.add({
      type: 'STEP_FINISHED',
      stepName: step.name,
      ...spanTag(step.subagentRunId),
    })
  }

  startGraph({ runId, parentRunId, name }: GraphEventOf<'graph-start'>): void {
    const { subgraphs, parentSubagentRunId, sink } = this.#options
    const around = this.of(parentRunId)
    if (subgraphs === 'steps') {
      this.enter(runId, parentRunId, { stepPrefix: `${around.stepPrefix}${name}/` })
      return
    }
    this.enter(runId, parentRunId, { subagentRunId: runId, toolCallId: undefined })
    const parent = around.subagentRunId ?? parentSubagentRunId
    sink.add({
      type: 'SUBAGENT_STARTED',
      subagentRunId: runId,
      name,
      ...(parent === undefined ? {} : { parentSubagentRunId: parent }),
      ...(around.toolCallId === undefined ? {} : { parentToolCallId: around.toolCallId }),
    })
  }

  endGraph(runId: string, end: SpanEnd): void {
    if (this.of(runId).subagentRunId !== runId) return
    // The run stream ends the steps of the span.
    for (const [node, { subagentRunId }] of this.#steps) if (subagentRunId === runId) this.#steps.delete(node)
    this.#options.sink.add(spanEnded(runId, end))
  }

  /** Notes where the interrupts of a GraphInterrupt error were raised: by the innermost run, which reports them first. */
  addInterrupts(runId: string, error: unknown): void {
    const { subagentRunId, toolCallId } = this.of(runId)
    for (const id of raisedInterruptIds(error))
      if (!this.#origins.has(id)) this.#origins.set(id, { subagentRunId, toolCallId })
  }

  /** Where an interrupt was raised, by LangGraph's id. */
  interruptOrigin(interruptId: string): InterruptOrigin | undefined {
    return this.#origins.get(interruptId)
  }

  /** `name`, or the first of `name#2`, `name#3`, ... that no open step of the span has. */
  #freeStepName(name: string, subagentRunId: string | undefined): string {
    const taken = new Set<string>()
    for (const step of this.#steps.values()) if (step.subagentRunId === subagentRunId) taken.add(step.name)
    let free = name
    for (let n = 2; taken.has(free); n++) free = `${name}#${n}`
    return free
  }
}

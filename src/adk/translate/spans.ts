import type { EventSink } from '../../bridge/event-sink.js'
import { spanEnded } from '../../bridge/spans.js'
import { stableHash } from '../../core/ids.js'
import type { AdkTranslatorOptions } from './adk-translator.js'
import type { AdkLane } from './lanes.js'

/** The work of an agent or of a workflow node: a subagent span or a step. */
export interface AdkSpan {
  readonly author: string
  readonly branch: string | undefined
  /** Undefined for a step. */
  readonly subagentRunId: string | undefined
  /** Undefined for a subagent span. */
  readonly stepName: string | undefined
  readonly lanes: Set<AdkLane>
  isOpen: boolean
  /** Whether it waits for a person. */
  isSuspended: boolean
}

interface SpansOptions extends Pick<AdkTranslatorOptions, 'runId' | 'parentSubagentRunId'> {
  readonly sink: EventSink
}

/** Derives spans and steps from the events of a run: ADK has no events for their begin and end. */
export class AdkSpans {
  readonly #options: SpansOptions
  readonly #open = new Set<AdkSpan>()
  readonly #counts = new Map<string, number>()
  #active: AdkLane | undefined

  constructor(options: SpansOptions) {
    this.#options = options
  }

  /** Whether a lane has worked without a break. If not, its next output is no part of its last message. */
  isAtWork(lane: AdkLane): boolean {
    return lane.needsSpan ? lane.span?.isOpen === true : lane === this.#active
  }

  /** Call it before a lane writes or acts. Ends the spans that must be over, and begins the lane's own. */
  enter(lane: AdkLane): void {
    const isActive = lane === this.#active
    if (isActive && (lane.span?.isOpen ?? !lane.needsSpan)) return
    if (!isActive && !lane.needsSpan) lane.writer.parentMessageId = undefined
    this.#active = lane
    for (const span of this.#open) if (mustBeOver(span, lane)) this.#end(span)
    if (!lane.needsSpan || lane.span?.isOpen === true) return
    const shared = lane.kind === 'agent' ? this.#spanOf(lane) : undefined
    if (shared) {
      shared.lanes.add(lane)
      lane.enterSpan(shared)
    } else this.#begin(lane)
  }

  /** Call it when a node has returned its output. */
  endStep({ kind, span }: AdkLane): void {
    if (kind === 'node' && span?.isOpen === true) this.#end(span)
  }

  finish(): void {
    for (const span of [...this.#open].reverse()) this.#end(span)
  }

  /** An agent runs once per branch, whatever node calls it. */
  #spanOf({ author, branch }: AdkLane): AdkSpan | undefined {
    for (const span of this.#open) {
      if (span.subagentRunId !== undefined && span.author === author && span.branch === branch) return span
    }
    return undefined
  }

  #begin(lane: AdkLane): void {
    const { author, branch, path, kind } = lane
    const subagentRunId = kind === 'agent' ? this.#newSpanId(lane) : undefined
    const stepName = kind === 'node' ? path : undefined
    const span = { author, branch, subagentRunId, stepName, lanes: new Set([lane]), isOpen: true }
    const begun: AdkSpan = { ...span, isSuspended: false }
    this.#open.add(begun)
    lane.enterSpan(begun)
    lane.writer.parentMessageId = undefined
    const { sink, parentSubagentRunId } = this.#options
    if (subagentRunId !== undefined) {
      const parent = parentSubagentRunId === undefined ? {} : { parentSubagentRunId }
      sink.add({ type: 'SUBAGENT_STARTED', subagentRunId, name: author, ...parent })
    } else if (stepName !== undefined) sink.add({ type: 'STEP_STARTED', stepName })
  }

  #newSpanId({ author, branch = '' }: AdkLane): string {
    const name = `${author}\n${branch}`
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    return `sub-${stableHash(`${this.#options.runId}\n${name}\n${count}`)}`
  }

  #end(span: AdkSpan): void {
    for (const lane of span.lanes) lane.finishAnswer()
    span.isOpen = false
    this.#open.delete(span)
    const { sink } = this.#options
    const { subagentRunId, stepName, isSuspended } = span
    if (stepName !== undefined) sink.add({ type: 'STEP_FINISHED', stepName })
    if (subagentRunId !== undefined)
      sink.add(spanEnded(subagentRunId, { type: isSuspended ? 'suspended' : 'done' }))
  }
}

/**
 * Whether a span must be over now that another lane is active: on one branch agents run one after the other, and an
 * agent above has waited for those below. But nodes that a dynamic workflow starts may share a branch and run at the same
 * time, so a span with a message being written is not over.
 */
function mustBeOver(span: AdkSpan, { author, branch }: AdkLane): boolean {
  const isOther = span.branch === branch ? span.author !== author : isBranchBelow(span.branch, branch)
  if (!isOther) return false
  for (const lane of span.lanes) if (lane.isWriting) return false
  return true
}

function isBranchBelow(branch: string | undefined, above: string | undefined): boolean {
  if (branch === undefined) return false
  if (above === undefined) return true
  return branch.length > above.length && branch[above.length] === '.' && branch.startsWith(above)
}

import { stableHash } from '../../core/ids.js'
import type { Lane } from './lane.js'
import type { EventSink } from '../../agents/index.js'
import type { TranslatorOptions } from './translator.js'
import type { Voice } from './voice.js'

/** The time in which an agent, or a node of a workflow, is at work: a subagent span or a step. */
export interface Scope {
  readonly author: string
  readonly branch: string | undefined
  /** The span's id. Undefined for a step. */
  readonly subagentRunId: string | undefined
  /** The step's name. Undefined for a span. */
  readonly stepName: string | undefined
  readonly lanes: Set<Lane>
  isOpen: boolean
  /** Whether it waits for the answer of a person. */
  hasAsked: boolean
}

export interface Scopes {
  /** Whether a lane has been at work without a break. If not, what comes next is no part of what it said before. */
  isAtWork(lane: Lane): boolean
  /** Somebody says or does something: those who must be through by then are, and their own scope is open. */
  enter(lane: Lane): void
  /** A node has given its output. */
  endStep(lane: Lane): void
  finish(): void
}

export interface ScopesOptions extends Pick<TranslatorOptions, 'runId' | 'parentSubagentRunId'> {
  readonly sink: EventSink
  readonly voice: Voice
}

export function createScopes({ runId, parentSubagentRunId, sink, voice }: ScopesOptions): Scopes {
  const open = new Set<Scope>()
  const counts = new Map<string, number>()
  let active: Lane | undefined

  const start = (lane: Lane): void => {
    const { author, branch, path } = lane
    const scope: Scope = {
      author,
      branch,
      subagentRunId: lane.kind === 'agent' ? spanId(lane) : undefined,
      stepName: lane.kind === 'node' ? path : undefined,
      lanes: new Set([lane]),
      isOpen: true,
      hasAsked: false,
    }
    open.add(scope)
    lane.scope = scope
    lane.holder = undefined
    const { subagentRunId, stepName } = scope
    if (subagentRunId !== undefined) {
      const parent = parentSubagentRunId === undefined ? {} : { parentSubagentRunId }
      sink.add({ type: 'SUBAGENT_STARTED', subagentRunId, name: author, ...parent })
    } else if (stepName !== undefined) {
      sink.add({ type: 'STEP_STARTED', stepName })
    }
  }

  const spanId = ({ author, branch = '' }: Lane): string => {
    const place = `${author}\n${branch}`
    const count = (counts.get(place) ?? 0) + 1
    counts.set(place, count)
    return `sub-${stableHash(`${runId}\n${place}\n${count}`)}`
  }

  const end = (scope: Scope): void => {
    for (const lane of scope.lanes) voice.finish(lane)
    scope.isOpen = false
    open.delete(scope)
    const { subagentRunId, stepName } = scope
    if (stepName !== undefined) sink.add({ type: 'STEP_FINISHED', stepName })
    if (subagentRunId === undefined) return
    // Which questions it waits for is known to those who ask them.
    const outcome = scope.hasAsked ? { outcome: { type: 'suspended' as const } } : {}
    sink.add({ type: 'SUBAGENT_FINISHED', subagentRunId, ...outcome })
  }

  return {
    isAtWork: (lane) => (needsScope(lane) ? lane.scope?.isOpen === true : lane === active),
    enter(lane) {
      if (lane === active && (lane.scope?.isOpen ?? !needsScope(lane))) return
      if (lane !== active && !needsScope(lane)) lane.holder = undefined
      active = lane
      for (const scope of open) if (isThrough(scope, lane)) end(scope)
      if (!needsScope(lane) || lane.scope?.isOpen === true) return
      const shared = lane.kind === 'agent' ? scopeOf(open, lane) : undefined
      if (shared) {
        shared.lanes.add(lane)
        lane.scope = shared
      } else {
        start(lane)
      }
    },
    endStep({ kind, scope }) {
      if (kind === 'node' && scope?.isOpen === true) end(scope)
    },
    finish() {
      for (const scope of [...open].reverse()) end(scope)
    },
  }
}

function needsScope({ kind, path }: Lane): boolean {
  return kind === 'agent' || (kind === 'node' && path !== undefined)
}

/** An agent is at work once per branch, whatever node it is called from. */
function scopeOf(open: Iterable<Scope>, { author, branch }: Lane): Scope | undefined {
  for (const scope of open) {
    if (scope.subagentRunId !== undefined && scope.author === author && scope.branch === branch) return scope
  }
  return undefined
}

/**
 * Whether somebody must have finished, now that another one has the word: on the same branch they come one after the
 * other, and whoever goes on above has waited for those below. But nodes that a workflow starts by hand may share a
 * branch and run at the same time; so who is in the middle of a sentence is not through.
 */
function isThrough(scope: Scope, { author, branch }: Lane): boolean {
  const isOther = scope.branch === branch ? scope.author !== author : isBelow(scope.branch, branch)
  if (!isOther) return false
  for (const lane of scope.lanes) if (lane.open) return false
  return true
}

function isBelow(branch: string | undefined, above: string | undefined): boolean {
  if (branch === undefined) return false
  if (above === undefined) return true
  return branch.length > above.length && branch[above.length] === '.' && branch.startsWith(above)
}

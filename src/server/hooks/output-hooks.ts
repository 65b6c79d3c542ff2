import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { toJson } from '../../core/to-json.js'
import {
  displayMark,
  eventProblem,
  type AgentEvent,
  type AgUiEvent,
  type EventOf,
} from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import { callHook, guardHook, isPromise, type HookContext } from './call-hook.js'
import type { RunInfo } from './hooks.js'
import { withRecordedChanges } from './record-changes.js'

/** Returns what leaves in place of an event. Throws or rejects when a hook fails or returns another event. */
export type OutputHooks = (event: AgUiEvent) => AgUiEvent | Promise<AgUiEvent>

/**
 * Adds a timestamp if the server is to, calls `outputRecord`, then `outputChange`. Undefined without all three. What
 * `outputChange` returns becomes JSON by the rule of `toJson`.
 */
export function createOutputHooks(server: HookContext, info: RunInfo): OutputHooks | undefined {
  const { outputRecord, outputChange } = server.hooks
  const record =
    outputRecord && guardHook(server, 'outputRecord', (event: AgUiEvent) => outputRecord(event, info))
  const recordedChange =
    outputChange &&
    withRecordedChanges(server, { name: 'outputChange', info }, (event: AgUiEvent) =>
      outputChange(event, info),
    )
  const change =
    recordedChange &&
    guardHook(server, 'outputChange', (event: AgUiEvent) => {
      const changed = recordedChange(event)
      return isPromise(changed)
        ? changed.then((later) => checkChanged(event, later))
        : checkChanged(event, changed)
    })
  const hooks = !record
    ? change
    : (event: AgUiEvent) => {
        const recorded = record(event)
        if (isPromise(recorded)) return recorded.then(() => (change ? change(event) : event))
        return change ? change(event) : event
      }
  if (server.stream.timestamps !== true) return hooks
  const { clock } = server
  return (event) => {
    const stamped = withTimestamp(event, clock)
    return hooks ? hooks(stamped) : stamped
  }
}

export function withTimestamp(event: AgUiEvent, clock: Clock): AgUiEvent {
  return event.timestamp === undefined ? { ...event, timestamp: clock.now() } : event
}

/** The error of a run whose event cannot be written as JSON, because `outputRecord` has changed it. */
export function notWritable({ type }: AgUiEvent, cause: unknown): MillraceError {
  const message = `The hook 'outputRecord' changed a ${type} event, which cannot be written as JSON now. Use \`outputChange\`.`
  return new MillraceError('ENCODING_ERROR', message, { cause })
}

/** Also checks the same object: hooks may change the event in place. */
function checkChanged(event: AgUiEvent, changed: AgUiEvent): AgUiEvent {
  if (changed !== event) assertSameIds(event, changed)
  const json = toJson(changed, `The ${event.type} event of outputChange`) as AgUiEvent
  const problem = eventProblem(json)
  if (problem === undefined) return json
  throw new MillraceError('HOOK_ERROR', `The hook 'outputChange' made a malformed event: ${problem}`)
}

const keptMembers = [
  'type',
  'threadId',
  'runId',
  'messageId',
  'toolCallId',
  'subagentRunId',
  'parentMessageId',
] as const

function assertSameIds(event: AgUiEvent, changed: AgUiEvent): void {
  const [before, after] = [Object(event) as object, Object(changed) as object]
  const lost = keptMembers.find((member) => Reflect.get(before, member) !== Reflect.get(after, member))
  if (lost === undefined) return
  throw new MillraceError('HOOK_ERROR', `The hook 'outputChange' changed '${lost}' of a ${event.type} event.`)
}

/** The state for a snapshot, after `stateSnapshot`. Undefined: no snapshot. */
function snapshotState(server: HookContext, visible: unknown, info: RunInfo): unknown {
  const { stateSnapshot } = server.hooks
  if (!stateSnapshot) return visible
  const change = withRecordedChanges(server, { name: 'stateSnapshot', info }, (given: unknown) =>
    stateSnapshot(given, info),
  )
  return callHook(server, 'stateSnapshot', async () => {
    const state: unknown = await change(visible)
    return state === undefined ? undefined : toJson(state, 'The state of stateSnapshot')
  })
}

/** A snapshot for clients of the state they may see. Undefined when `stateSnapshot` wants none. */
export async function snapshotEvent(
  server: HookContext,
  visible: unknown,
  info: RunInfo,
): Promise<EventOf<'STATE_SNAPSHOT'> | undefined> {
  const { stateSnapshot, outputChange } = server.hooks
  const snapshot = await snapshotState(server, visible, info)
  if (snapshot === undefined) return undefined
  const mark = stateSnapshot || outputChange ? { metadata: displayMark } : {}
  return { type: 'STATE_SNAPSHOT', snapshot, ...mark }
}

/** Catch-up events as clients may see them: the state without its private part, after `stateSnapshot`. */
export async function toVisibleCatchUp(
  server: HookContext & Pick<ServerContext, 'stateRulesOf'>,
  events: readonly AgentEvent[],
  info: RunInfo,
): Promise<readonly AgentEvent[]> {
  const rules = server.stateRulesOf(info.key)
  const visible: AgentEvent[] = []
  for (const event of events) {
    if (event.type !== 'STATE_SNAPSHOT') visible.push(event)
    else {
      const snapshot = await snapshotEvent(server, rules.visible(event.snapshot), info)
      if (snapshot) visible.push(snapshot)
    }
  }
  return visible
}

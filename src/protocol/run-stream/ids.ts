import type { Lane, MessageItem, RunState } from './run-state.js'

/** A message as its agent names it: the id alone may be used in several lanes. */
interface LaneMessage {
  readonly lane: Lane
  /** The id as the agent writes it. */
  readonly id: string
}

/**
 * The message item of an id, made if it is new. An agent may use one id for two things: the same in two subagents, one
 * for a text and for its reasoning, one that an earlier run of the thread used. Clients would write both into one
 * message, so the first claimant keeps the id and the others are renamed, consistently for the rest of the run.
 */
export function claimMessage(
  run: RunState,
  kind: MessageItem['kind'],
  { lane, id }: LaneMessage,
): MessageItem {
  const first = run.messages[kind].get(id)
  const known = first?.lane === lane ? first : renamedMessage(run, kind, { lane, id })
  if (known) return known
  const item: MessageItem = {
    kind,
    id: freeMessageId(run, id, kind === 'reasoning' ? lane : undefined),
    lane,
    isOpen: false,
    wasOpen: false,
    sticky: false,
    role: 'assistant',
    name: undefined,
  }
  if (kind === 'reasoning') run.reasoningOwners.set(item.id, lane.id)
  if (first) (run.renamed ??= new Map()).set(renamedKey(kind, { lane, id }), item)
  else run.messages[kind].set(id, item)
  return item
}

/** The item of a lane whose id had to be changed, by the id the agent uses. */
export function renamedMessage(
  run: RunState,
  kind: MessageItem['kind'],
  message: LaneMessage,
): MessageItem | undefined {
  return run.renamed?.get(renamedKey(kind, message))
}

function renamedKey(kind: MessageItem['kind'], { lane, id }: LaneMessage): string {
  return `${kind} ${lane.key} ${id}`
}

/** A message id nobody in this thread uses. With `reasoningOf`, nor any other lane's reasoning. */
export function freeMessageId(run: RunState, base: string, reasoningOf?: Lane): string {
  const id = freeId(
    base,
    (id) =>
      run.claimed.has(id) ||
      run.fold.list.get(id) !== undefined ||
      (reasoningOf !== undefined && isReasoningOfOther(run, id, reasoningOf)),
  )
  run.claimed.add(id)
  return id
}

/** A span id no other lane uses. Spans and reasoning messages are two namespaces of ids with one record of owners. */
export function freeSpanId(run: RunState, base: string, lane: Lane): string {
  const id = freeId(base, (id) => isReasoningOfOther(run, id, lane))
  run.reasoningOwners.set(id, lane.id)
  return id
}

function isReasoningOfOther(run: RunState, reasoningId: string, lane: Lane): boolean {
  return run.reasoningOwners.has(reasoningId) && run.reasoningOwners.get(reasoningId) !== lane.id
}

/** `base`, or the first of `base~2`, `base~3`, ... that is not taken. */
export function freeId(base: string, isTaken: (id: string) => boolean, separator = '~'): string {
  let id = base
  for (let n = 2; isTaken(id); n++) id = `${base}${separator}${n}`
  return id
}

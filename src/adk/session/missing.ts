import type { Message, UserMessage } from '@ag-ui/core'
import { runOf } from '../call-place.js'
import {
  authorOf,
  reasoningBefore,
  type Import,
  type ImportOptions,
  type NamedResult,
} from './import-messages.js'
import type { SessionIndex } from './session-index.js'
import { callsOf, type Placed, type ThreadIndex } from './thread-index.js'

/** What a thread has and a session has not. */
export interface Missing {
  /** Comes before the news, with its place in the thread. */
  readonly imports: readonly { readonly position: number; readonly item: Import }[]
  /** What users say that no agent has heard. */
  readonly users: readonly UserMessage[]
  /** Results of calls that an agent waits for. */
  readonly results: readonly NamedResult[]
  /** Results of calls that no agent waits for any more. */
  readonly late: readonly NamedResult[]
}

interface MissingInput extends Pick<ImportOptions, 'rootAuthor' | 'toModelName'> {
  readonly messages: readonly Message[]
  readonly thread: ThreadIndex
  readonly session: SessionIndex
  /** Where in the thread the session ends. What is missing before that place stays so: it was never heard. */
  readonly end: number
}

/** Compares a thread with a session that has nothing but what the thread has. */
export function findMissing(input: MissingInput): Missing {
  const { thread, session, end } = input
  const spoken = missingWords(input)
  const lastImport = spoken.at(-1)?.position ?? -1
  const imported = new Map(
    spoken.flatMap(({ item, position }) =>
      item.role === 'assistant' ? item.calls.map(({ id }) => [id, { item, position }] as const) : [],
    ),
  )
  const isAwaited = awaitedCalls(input)
  /** Results to bring in behind a message, by its place; -1: behind all that the session has. */
  const behind = new Map<number, Import & { role: 'results' }>()
  const results: NamedResult[] = []
  const late: NamedResult[] = []
  for (const { message, position } of thread.results) {
    const { toolCallId: id } = message
    const stored = session.callOf(id)
    const place = imported.get(id)
    if (session.isAnswered(id) || (!stored && !place)) continue
    const wireName = thread.callOf(id)?.function.name ?? ''
    const named = { name: stored?.name ?? input.toModelName(wireName), message }
    const isCurrent = !thread.hasUserAfter(thread.positionOf(id) ?? end)
    if (stored && !stored.isInLastTurn) late.push(named)
    else if (place ? position < thread.trailing && !isAwaited(id) : position < lastImport) {
      const author = stored?.author ?? (place && authorOf(place.item.message, input)) ?? input.rootAuthor
      addResult(behind, place?.position ?? -1, { author, named })
    } else (isCurrent ? results : late).push(named)
  }
  const first = behind.get(-1)
  const imports = spoken.flatMap((entry) => {
    const item = behind.get(entry.position)
    return item ? [entry, { position: entry.position, item }] : [entry]
  })
  const isNews = ({ message, position }: Placed): boolean =>
    !session.has(message.id) && (position >= thread.trailing || position < end)
  return {
    imports: first ? [{ position: -1, item: first }, ...imports] : imports,
    users: thread.users.filter(isNews).map(({ message }) => message),
    results,
    late,
  }
}

/**
 * Agents that run side by side call at the same time: a result may be awaited although others have spoken since. Not by
 * one who has spoken since, nor when its run was not the latest to call.
 */
function awaitedCalls({ thread, ...input }: MissingInput): (callId: string) => boolean {
  const words = thread.spoken.flatMap(({ message, position }) =>
    message.role === 'assistant' ? [{ message, position, author: authorOf(message, input) }] : [],
  )
  const ends = new Map(words.map(({ author, position }) => [author, position]))
  const latest = words.findLast(({ message }) => callsOf(message).length > 0)?.message
  const runs = new Set(latest && callsOf(latest).flatMap((call) => runOf(call) ?? []))
  const lastUser = thread.users.at(-1)?.position ?? -1
  const awaited = words.flatMap(({ message, position, author }) =>
    position > lastUser && ends.get(author) === position
      ? callsOf(message).filter((call) => runs.has(runOf(call) ?? ''))
      : [],
  )
  const ids = new Set(awaited.map(({ id }) => id))
  return (callId) => ids.has(callId)
}

function addResult(
  behind: Map<number, Import & { role: 'results' }>,
  position: number,
  { author, named }: { readonly author: string; readonly named: NamedResult },
): void {
  const results = [...(behind.get(position)?.results ?? []), named]
  behind.set(position, { role: 'results', author, results })
}

/** Messages that the session lacks, and that come before the news. */
function missingWords({ messages, thread, session, end }: MissingInput) {
  return thread.spoken.flatMap(({ message, position }): { position: number; item: Import }[] => {
    if (position < end || position >= thread.trailing) return []
    if (message.role === 'user') {
      return session.has(message.id) ? [] : [{ position, item: { role: 'user', message } }]
    }
    const hasText = (message.content ?? '') !== '' && !session.has(message.id)
    const calls = callsOf(message).filter(({ id }) => session.callOf(id) === undefined)
    if (!hasText && calls.length === 0) return []
    const reasoning = reasoningBefore(messages, position)
    return [{ position, item: { role: 'assistant', message, reasoning, hasText, calls } }]
  })
}

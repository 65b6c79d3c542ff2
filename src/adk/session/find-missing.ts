import type { Message, UserMessage } from '@ag-ui/core'
import { callRunId } from './marks.js'
import { modelCalls, type IndexedMessage, type SessionIndex, type ThreadIndex } from './conversation-index.js'
import {
  messageAuthor,
  reasoningBefore,
  type Import,
  type ImportOptions,
  type NamedResult,
} from './import-messages.js'

/** An import with its position in the thread. */
interface IndexedImport {
  readonly position: number
  readonly item: Import
}

/** The messages of a thread that a session lacks. */
export interface Missing {
  /** Messages before the news. */
  readonly imports: readonly IndexedImport[]
  /** User messages that no agent has seen. */
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
  /** The session's end in the thread. Messages missing before it stay missing: no agent has ever seen them. */
  readonly end: number
}

/** Compares a thread with a session whose messages are all in the thread. */
export function findMissing(input: MissingInput): Missing {
  const { thread, session, end } = input
  const missing = missingMessages(input)
  const { behind, results, late } = sortResults(input, missing)
  const first = behind.get(-1)
  const imports = missing.flatMap((entry) => {
    const item = behind.get(entry.position)
    return item ? [entry, { position: entry.position, item }] : [entry]
  })
  const isNew = ({ message, position }: IndexedMessage): boolean =>
    !session.has(message.id) && (position >= thread.trailing || position < end)
  return {
    imports: first ? [{ position: -1, item: first }, ...imports] : imports,
    users: thread.users.filter(isNew).map(({ message }) => message),
    results,
    late,
  }
}

/** User and assistant messages that the session lacks, before the news. */
function missingMessages({ messages, thread, session, end }: MissingInput): IndexedImport[] {
  return thread.conversation.flatMap(({ message, position }): IndexedImport[] => {
    if (position < end || position >= thread.trailing) return []
    if (message.role === 'user') {
      return session.has(message.id) ? [] : [{ position, item: { role: 'user', message } }]
    }
    const hasText = (message.content ?? '') !== '' && !session.has(message.id)
    const calls = modelCalls(message).filter(({ id }) => session.callOf(id) === undefined)
    if (!hasText && calls.length === 0) return []
    const reasoning = reasoningBefore(messages, position)
    return [{ position, item: { role: 'assistant', message, reasoning, hasText, calls } }]
  })
}

type ImportedResults = Import & { role: 'results' }

interface SortedResults extends Pick<Missing, 'results' | 'late'> {
  /** Results to import behind a message, by its position; -1: behind all that the session has. */
  readonly behind: ReadonlyMap<number, ImportedResults>
}

/** Sorts the missing results: imported behind their call, sent to the agent that waits, or late. */
function sortResults(input: MissingInput, missing: readonly IndexedImport[]): SortedResults {
  const { thread, session, end } = input
  const lastImport = missing.at(-1)?.position ?? -1
  const importedCalls = new Map(
    missing.flatMap(({ item, position }) =>
      item.role === 'assistant' ? item.calls.map(({ id }) => [id, { item, position }] as const) : [],
    ),
  )
  const isAwaited = awaitedCalls(input)
  const behind = new Map<number, ImportedResults>()
  const results: NamedResult[] = []
  const late: NamedResult[] = []
  for (const { message, position } of thread.results) {
    const { toolCallId: id } = message
    const stored = session.callOf(id)
    const imported = importedCalls.get(id)
    if (session.isAnswered(id) || (!stored && !imported)) continue
    const wireName = thread.callOf(id)?.function.name ?? ''
    const named = { name: stored?.name ?? input.toModelName(wireName), message }
    const isCurrent = !thread.hasUserAfter(thread.positionOf(id) ?? end)
    const isPast = imported ? position < thread.trailing && !isAwaited(id) : position < lastImport
    if (stored && !session.isLatest(stored)) late.push(named)
    else if (isPast) {
      const caller = imported && messageAuthor(imported.item.message, input)
      const at = imported?.position ?? -1
      const author = stored?.author ?? caller ?? input.rootAuthor
      behind.set(at, { role: 'results', author, results: [...(behind.get(at)?.results ?? []), named] })
    } else (isCurrent ? results : late).push(named)
  }
  return { behind, results, late }
}

/**
 * Parallel agents call at the same time: a result may be awaited although other agents have written since. Not if the
 * calling agent has written since, nor if another run was the latest to call.
 */
function awaitedCalls({ thread, ...input }: MissingInput): (callId: string) => boolean {
  const written = thread.conversation.flatMap(({ message, position }) =>
    message.role === 'assistant' ? [{ message, position, author: messageAuthor(message, input) }] : [],
  )
  const ends = new Map(written.map(({ author, position }) => [author, position]))
  const latest = written.findLast(({ message }) => modelCalls(message).length > 0)?.message
  const runs = new Set(latest && modelCalls(latest).flatMap((call) => callRunId(call) ?? []))
  const lastUser = thread.users.at(-1)?.position ?? -1
  const awaited = written.flatMap(({ message, position, author }) =>
    position > lastUser && ends.get(author) === position
      ? modelCalls(message).filter((call) => runs.has(callRunId(call) ?? ''))
      : [],
  )
  const ids = new Set(awaited.map(({ id }) => id))
  return (callId) => ids.has(callId)
}

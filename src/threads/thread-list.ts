import { MillraceError } from '../core/errors.js'
import type { RunRecord, Thread, ThreadSummary } from './contract.js'

/** A thread as a list shows it. */
export function summarizeThread(thread: Thread): ThreadSummary {
  const { key, version, createdAt, updatedAt, title, archived, forkedFrom } = thread
  return {
    ...{ key, version, createdAt, updatedAt, title },
    ...(archived === undefined ? {} : { archived }),
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    messageCount: thread.messages.length,
    interruptCount: thread.interrupts.length,
    pendingToolCallCount: thread.pendingToolCalls.length,
    ...(thread.run === undefined ? {} : { run: withoutStart(thread.run) }),
  }
}

function withoutStart({ start: _, ...run }: RunRecord): Omit<RunRecord, 'start'> {
  return run
}

/** Whether a title has the text of a search in it, whatever the case of their letters; without a text, all match. */
export function titleMatches(title: string, search: string | undefined): boolean {
  return search === undefined || foldCase(title).includes(foldCase(search))
}

/** A text as searches compare it: without regard to case, in all scripts and whatever the locale. */
export function foldCase(text: string): string {
  // Upper case first: it makes one of letters that have several lower ones, such as those of the Greek sigma.
  return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

/** The last thread of a page. The next page begins after it, even if the thread was changed or removed meanwhile. */
export interface PageEnd {
  readonly updatedAt: number
  readonly thread: string
}

export function toCursor({ updatedAt, thread }: PageEnd): string {
  return Buffer.from(JSON.stringify([updatedAt, thread])).toString('base64url')
}

/** Throws INVALID_INPUT if `toCursor` did not make the text. */
export function fromCursor(cursor: string): PageEnd {
  const [updatedAt, thread, ...rest] = parseCursor(cursor)
  if (typeof updatedAt === 'number' && typeof thread === 'string' && rest.length === 0)
    return { updatedAt, thread }
  throw new MillraceError('INVALID_INPUT', 'The cursor is not one that a list of threads has given.')
}

function parseCursor(cursor: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

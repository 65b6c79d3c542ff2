import { isRecord, textOf, typeOf } from './model/json.js'
import type { RunEntry } from './model/run-file.js'

export type EventGroup = 'run' | 'text' | 'reasoning' | 'tool' | 'state' | 'agent' | 'other' | 'broken'

/** The family of an event, for its colour and for the filter. */
export function groupOf({ event }: RunEntry): EventGroup {
  const type = typeOf(event)
  if (type === undefined) return 'broken'
  if (type.startsWith('RUN_')) return 'run'
  if (type.startsWith('TEXT_')) return 'text'
  if (/^(REASONING|THINKING)_/.test(type)) return 'reasoning'
  if (type.startsWith('TOOL_')) return 'tool'
  if (/^(STATE|MESSAGES|ACTIVITY)_/.test(type)) return 'state'
  return /^(SUBAGENT|STEP)_/.test(type) ? 'agent' : 'other'
}

const names = [
  'toolCallName',
  'stepName',
  'name',
  'activityType',
  'delta',
  'content',
  'message',
  'messageId',
  'toolCallId',
]

/** What the row of an event says beside its type. */
export function summaryOf({ event, raw }: RunEntry): string {
  if (!isRecord(event)) return raw ?? JSON.stringify(event)
  for (const name of names) {
    const text = textOf(event, name)
    if (text !== undefined && text !== '') return text.slice(0, 120)
  }
  const rest = event.outcome ?? event.delta ?? event.snapshot ?? event.value ?? event.messages ?? event.result
  return rest === undefined ? '' : JSON.stringify(rest).slice(0, 120)
}

interface EventQuery {
  /** A type or a group. Empty: any. */
  readonly type: string
  /** In lower case. Empty: any. */
  readonly search: string
  readonly texts: WeakMap<RunEntry, string>
}

/** Finds events by their type and by any text in them. `texts` remembers what was made before. */
export function matches(entry: RunEntry, { type, search, texts }: EventQuery): boolean {
  if (type !== '' && (typeOf(entry.event) ?? '') !== type && groupOf(entry) !== type) return false
  if (search === '') return true
  const text = texts.get(entry) ?? (entry.raw ?? JSON.stringify(entry.event)).toLowerCase()
  texts.set(entry, text)
  return text.includes(search)
}

/** A time as people read it: `840 ms`, `1.24 s`, `2 min 5 s`. */
export function formatMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

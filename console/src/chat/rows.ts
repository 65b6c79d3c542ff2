import type { Thread } from 'millrace/client'
import type { NotedEvent, NotedSubagent, Notes, Span } from './thread-notes.js'

export type Message = ReturnType<Thread['getSnapshot']>['messages'][number]
export type MessageOf<Role extends Message['role']> = Extract<Message, { readonly role: Role }>
type ToolCall = NonNullable<MessageOf<'assistant'>['toolCalls']>[number]

/** One entry of the conversation as it is shown. The same object as long as nothing in it changes. */
export type Row =
  | { readonly kind: 'user'; readonly key: string; readonly message: MessageOf<'user'> }
  | { readonly kind: 'text'; readonly key: string; readonly message: MessageOf<'assistant'> }
  | {
      readonly kind: 'reasoning'
      readonly key: string
      readonly message: MessageOf<'reasoning'>
      readonly span: Span | undefined
    }
  | CallRow
  | { readonly kind: 'activity'; readonly key: string; readonly message: MessageOf<'activity'> }
  | { readonly kind: 'event'; readonly key: string; readonly event: NotedEvent }
  | SubagentRow

export interface CallRow {
  readonly kind: 'call'
  readonly key: string
  readonly call: ToolCall
  readonly result: MessageOf<'tool'> | undefined
  readonly progress: MessageOf<'activity'> | undefined
  readonly span: Span | undefined
}

export interface SubagentRow {
  readonly kind: 'subagent'
  readonly key: string
  readonly name: string
  readonly subagent: NotedSubagent | undefined
  readonly span: Span | undefined
  readonly rows: readonly Row[]
}

/** Makes rows of messages, and keeps those that stay the same. */
export function createRowBuilder(): (messages: readonly Message[], notes: Notes) => readonly Row[] {
  let before = new Map<string, Row>()
  return (messages, notes) => {
    const rows = new RowList(messages, notes, before)
    before = rows.made
    return rows.top
  }
}

interface OpenGroup {
  readonly id: string
  readonly name: string
  readonly rows: Row[]
}

class RowList {
  readonly made = new Map<string, Row>()
  readonly top: readonly Row[]
  readonly #notes: Notes
  readonly #before: ReadonlyMap<string, Row>
  readonly #results = new Map<string, MessageOf<'tool'>>()
  readonly #progress = new Map<string, MessageOf<'activity'>>()
  readonly #groups = new Map<string, OpenGroup>()
  /** An agent that is a tool has the tool's name, and its last text is the result. */
  readonly #namesByResult = new Map<string, string>()
  readonly #eventsAfter = new Map<string | undefined, NotedEvent[]>()

  constructor(messages: readonly Message[], notes: Notes, before: ReadonlyMap<string, Row>) {
    this.#notes = notes
    this.#before = before
    const callNames = new Map<string, string>()
    for (const message of messages) {
      if (message.role === 'assistant')
        for (const call of message.toolCalls ?? []) callNames.set(call.id, call.function.name)
      if (message.role === 'tool') this.#results.set(message.toolCallId, message)
      const callId = progressOf(message)
      if (callId !== undefined && message.role === 'activity') this.#progress.set(callId, message)
    }
    for (const { toolCallId, content } of this.#results.values()) {
      const name = callNames.get(toolCallId)
      if (typeof content === 'string' && name !== undefined) this.#namesByResult.set(content, name)
    }
    for (const event of notes.events)
      this.#eventsAfter.set(event.after, [...(this.#eventsAfter.get(event.after) ?? []), event])
    const rows: Row[] = []
    this.#addEvents(rows, undefined)
    for (const message of messages) this.#add(rows, message)
    for (const { id, name, status } of notes.subagents.values())
      if (status === 'running' && !this.#groups.has(id)) this.#groupOf(rows, id, name)
    this.top = rows.map((row) => this.#close(row))
  }

  #add(top: Row[], message: Message): void {
    const id = message.subagentRunId
    const rows = id === undefined ? top : this.#groupOf(top, id, this.#authorOf(message))
    switch (message.role) {
      case 'user':
        rows.push(this.#keep({ kind: 'user', key: message.id, message }))
        break
      case 'assistant':
        if (hasText(message)) rows.push(this.#keep({ kind: 'text', key: message.id, message }))
        this.#addEvents(rows, message.id)
        for (const call of message.toolCalls ?? []) this.#addCall(rows, call)
        return
      case 'reasoning': {
        const span = this.#notes.spans.get(message.id)
        if (message.content !== '' || span)
          rows.push(this.#keep({ kind: 'reasoning', key: message.id, message, span }))
        break
      }
      case 'activity':
        if (progressOf(message) === undefined)
          rows.push(this.#keep({ kind: 'activity', key: message.id, message }))
        break
      default:
    }
    this.#addEvents(rows, message.id)
  }

  /** Stored messages do not always say who wrote them. */
  #authorOf(message: Message): string {
    const { content } = message
    return (
      nameOf(message) ?? (typeof content === 'string' ? this.#namesByResult.get(content) : undefined) ?? ''
    )
  }

  #addCall(rows: Row[], call: ToolCall): void {
    const { id } = call
    const span = this.#notes.spans.get(id)
    const [result, progress] = [this.#results.get(id), this.#progress.get(id)]
    rows.push(this.#keep({ kind: 'call', key: `call-${id}`, call, result, progress, span }))
    this.#addEvents(rows, id)
  }

  #addEvents(rows: Row[], after: string | undefined): void {
    for (const event of this.#eventsAfter.get(after) ?? [])
      rows.push(this.#keep({ kind: 'event', key: event.id, event }))
  }

  /** The rows of a subagent. Its group stands where its first message came, in the group of its parent. */
  #groupOf(top: Row[], id: string, fallback: string): Row[] {
    const known = this.#groups.get(id)
    if (known) return known.rows
    const noted = this.#notes.subagents.get(id)
    const parentId = noted?.parentId
    const parent = parentId === undefined ? top : this.#groupOf(top, parentId, '')
    const rows: Row[] = []
    this.#groups.set(id, { id, name: noted?.name ?? fallback, rows })
    parent.push({
      ...{ kind: 'subagent', key: `subagent-${id}`, name: noted?.name ?? fallback, subagent: noted, rows },
      span: this.#notes.spans.get(id),
    })
    return rows
  }

  /** Groups are full when all messages are in. */
  #close(row: Row): Row {
    if (row.kind !== 'subagent') return row
    return this.#keep({ ...row, rows: row.rows.map((inner) => this.#close(inner)) })
  }

  #keep(row: Row): Row {
    const before = this.#before.get(row.key)
    const kept = before && isSame(before, row) ? before : row
    this.made.set(row.key, kept)
    return kept
  }
}

function isSame(left: Row, right: Row): boolean {
  if (left.kind === 'subagent' && right.kind === 'subagent') {
    const { rows, ...rest } = left
    const { rows: otherRows, ...otherRest } = right
    return isShallowEqual(rest, otherRest) && isShallowEqual(rows, otherRows)
  }
  return isShallowEqual(left, right)
}

function isShallowEqual(left: object, right: object): boolean {
  const [leftEntries, others] = [Object.entries(left), right as Record<string, unknown>]
  return (
    leftEntries.length === Object.keys(right).length &&
    leftEntries.every(([key, value]) => others[key] === value)
  )
}

/** The call whose progress an activity tells. */
function progressOf(message: Message): string | undefined {
  if (message.role !== 'activity' || message.activityType !== 'tool-progress') return undefined
  const { toolCallId } = message.content
  return typeof toolCallId === 'string' ? toolCallId : undefined
}

function nameOf(message: Message): string | undefined {
  if ('name' in message && message.name) return message.name
  const mark: unknown = message.metadata?.['millrace.at']
  return typeof mark === 'string' ? mark.split(/[/:]/).at(-1) : undefined
}

function hasText({ content }: MessageOf<'assistant'>): boolean {
  return content !== undefined && content !== ''
}

import type { Message } from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { EventSink } from '../../bridge/event-sink.js'
import { MessageWriter, type MessageKind } from '../../bridge/message-writer.js'
import { spanTag } from '../../bridge/spans.js'
import { rejectMessage, rewriteMessages } from '../../protocol/index.js'
import type { AdkTranslatorOptions } from './adk-translator.js'
import type { AdkSpan } from './spans.js'
import { StreamedText } from './streamed-text.js'
import type { ModelCallUsage } from './usage.js'

interface LanesOptions extends Pick<AdkTranslatorOptions, 'rootAuthor' | 'isAgent' | 'hidesText' | 'newId'> {
  readonly sink: EventSink
}

type LaneKey = Pick<AdkLane, 'author' | 'branch' | 'path'>

/** The lanes of one run, by the author, branch and node path of events. Those of parallel agents interleave. */
export class AdkLanes {
  readonly #options: LanesOptions
  readonly #lanes = new Map<string, AdkLane>()
  #latest: AdkLane | undefined

  constructor(options: LanesOptions) {
    this.#options = options
  }

  all(): Iterable<AdkLane> {
    return this.#lanes.values()
  }

  /** The lane of an event. */
  of(event: Event): AdkLane {
    const { author = this.#options.rootAuthor, branch } = event
    const path = event.nodeInfo?.path
    const latest = this.#latest
    if (latest?.author === author && latest.branch === branch && latest.path === path) return latest
    const key = { author, branch, path }
    const name = laneName(key)
    const lane = this.#lanes.get(name) ?? this.#create(key)
    this.#lanes.set(name, lane)
    this.#latest = lane
    return lane
  }

  /** The lane of an event that does not name its branch: the one its author uses. */
  near({ author = this.#options.rootAuthor, branch, nodeInfo }: Event): AdkLane | undefined {
    const own = [...this.#lanes.values()].filter((lane) => lane.author === author)
    const writing = own.findLast(({ isWriting }) => isWriting)
    return writing ?? this.#lanes.get(laneName({ author, branch, path: nodeInfo?.path })) ?? own.at(-1)
  }

  #create(key: LaneKey): AdkLane {
    const { rootAuthor, isAgent, hidesText, newId, sink } = this.#options
    const { author } = key
    // An answer of a plugin, in place of the agent's, has the author 'model'.
    const isRoot = author === rootAuthor || author === 'model'
    return new AdkLane({
      ...key,
      kind: isRoot ? 'root' : isAgent(author) ? 'agent' : 'node',
      hidesText: hidesText(author),
      writer: new MessageWriter({ sink, newId, name: isRoot ? undefined : author }),
      sink,
    })
  }
}

function laneName({ author, branch, path }: LaneKey): string {
  return `${author}\n${branch ?? ''}\n${path ?? ''}`
}

interface LaneFields {
  readonly author: string
  readonly branch: string | undefined
  readonly path: string | undefined
  readonly kind: AdkLane['kind']
  readonly hidesText: boolean
  readonly writer: MessageWriter
  readonly sink: EventSink
}

/** One running agent or workflow node, with the messages it writes. */
export class AdkLane {
  readonly author: string
  readonly branch: string | undefined
  readonly path: string | undefined
  /** The run's own agent, another agent, or a workflow node that is no agent. */
  readonly kind: 'root' | 'agent' | 'node'
  /** Its text is data, not chat. */
  readonly hidesText: boolean
  /** Whether it works in a subagent span or a step. */
  readonly needsSpan: boolean
  readonly writer: MessageWriter
  readonly text = new StreamedText()
  readonly reasoning = new StreamedText()
  hasShownText = false
  /** Whether the model has written or called something since its request. */
  hasOutput = false
  /** The span or step that it works in, or last worked in. */
  span: AdkSpan | undefined
  /** Usage of the current model call. */
  usage: ModelCallUsage | undefined
  readonly #sink: EventSink
  /** Messages of answers that broke off. */
  readonly #broken: Pick<Message, 'id' | 'role' | 'subagentRunId'>[] = []

  constructor(fields: LaneFields) {
    this.author = fields.author
    this.branch = fields.branch
    this.path = fields.path
    this.kind = fields.kind
    this.hidesText = fields.hidesText
    this.needsSpan = this.kind === 'agent' || (this.kind === 'node' && this.path !== undefined)
    this.writer = fields.writer
    this.#sink = fields.sink
  }

  get isWriting(): boolean {
    return this.writer.kind !== undefined
  }

  get subagentRunId(): string | undefined {
    return this.span?.subagentRunId
  }

  enterSpan(span: AdkSpan): void {
    this.span = span
    this.writer.subagentRunId = span.subagentRunId
  }

  /** Writes a chunk of a streamed answer. The path of every token. */
  writeChunk(kind: MessageKind, chunk: string): void {
    const delta = (kind === 'text' ? this.text : this.reasoning).takeChunk(chunk)
    if (delta === '') return
    if (this.writer.kind !== kind) this.#begin(kind)
    this.writer.write(delta)
  }

  /** Writes what a complete answer adds to its chunks, or what has become of them. */
  writeWhole(kind: MessageKind, text: string): void {
    const rest = this.#streamed(kind).takeWhole(text)
    if (rest === undefined) {
      this.#writeUndecided(kind)
      if (text !== '') this.#rewrite(kind, text)
    } else if (rest !== '') this.#continue(kind, rest)
  }

  /** Sends the provider's encrypted value for the latest text or reasoning, once. */
  sendEncryptedValue(kind: MessageKind, encryptedValue: string): void {
    const streamed = this.#streamed(kind)
    // The complete answer may repeat it.
    if (streamed.encryptedValue === encryptedValue) return
    streamed.encryptedValue = encryptedValue
    const { writer } = this
    const messageId = streamed.messageIds.at(-1) ?? (kind === 'text' ? writer.parentMessageId : undefined)
    writer.sendEncryptedValue(encryptedValue, messageId ?? writer.newId('reasoning'))
  }

  finishAnswer(): void {
    this.#writeUndecided('reasoning')
    this.#writeUndecided('text')
    this.writer.end()
    this.reasoning.reset()
    this.text.reset()
  }

  /** Leaves an answer as it is because its model failed. The session does not get it. */
  breakOff(): void {
    this.#writeUndecided('reasoning')
    this.#writeUndecided('text')
    this.writer.breakOff()
    const tag = spanTag(this.subagentRunId)
    for (const id of this.reasoning.messageIds) this.#broken.push({ id, role: 'reasoning', ...tag })
    for (const id of this.text.messageIds) this.#broken.push({ id, role: 'assistant', ...tag })
    this.reasoning.reset()
    this.text.reset()
  }

  /** Rejects what broke off, because the agent continues without it. Returns the ids. */
  rejectBroken(reason: string): string[] {
    const rejected = this.#broken.splice(0)
    for (const message of rejected) for (const event of rejectMessage(message, reason)) this.#sink.add(event)
    return rejected.map(({ id }) => id)
  }

  /** The messages that the text or reasoning of a complete answer becomes. */
  messageIdsOf(kind: MessageKind): string[] {
    const streamed = this.#streamed(kind)
    if (streamed.messageIds.length > 0) return [...streamed.messageIds]
    return [(streamed.nextMessageId ??= this.writer.newId(kind))]
  }

  #streamed(kind: MessageKind): StreamedText {
    return kind === 'text' ? this.text : this.reasoning
  }

  #begin(kind: MessageKind): void {
    this.rejectBroken('error')
    const streamed = this.#streamed(kind)
    streamed.messageIds.push(this.writer.begin(kind, streamed.nextMessageId))
    streamed.nextMessageId = undefined
    if (kind === 'text') this.hasShownText = true
  }

  /** Writes more of the latest message, which another item may have closed. */
  #continue(kind: MessageKind, delta: string): void {
    if (this.writer.kind !== kind) {
      const messageId = this.#streamed(kind).messageIds.at(-1)
      if (messageId === undefined) this.#begin(kind)
      else this.writer.begin(kind, messageId)
    }
    this.writer.write(delta)
  }

  /** A callback has changed the complete answer, and the session has that one. */
  #rewrite(kind: MessageKind, text: string): void {
    const role = kind === 'text' ? ('assistant' as const) : kind
    const messages = this.#streamed(kind).messageIds.map((id, index) => ({
      id,
      role,
      content: index === 0 ? text : '',
    }))
    this.#sink.add({ ...rewriteMessages(messages), ...spanTag(this.subagentRunId) })
  }

  #writeUndecided(kind: MessageKind): void {
    const delta = this.#streamed(kind).takeUndecided()
    if (delta !== '') this.#continue(kind, delta)
  }
}

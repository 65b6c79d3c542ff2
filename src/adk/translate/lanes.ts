import type { Event } from '@google/adk'
import type { EventSink } from '../../bridge/event-sink.js'
import { MessageWriter, type MessageKind } from '../../bridge/message-writer.js'
import type { AdkTranslatorOptions } from './adk-translator.js'
import type { AdkSpan } from './spans.js'
import { StreamedText } from './streamed-text.js'
import type { ModelCallUsage } from './usage.js'

interface LanesOptions extends Pick<
  AdkTranslatorOptions,
  'rootAuthor' | 'isAgent' | 'hidesText' | 'newId' | 'report'
> {
  readonly sink: EventSink
}

type LaneKey = Pick<AdkLane, 'author' | 'branch' | 'path'>

/** The lanes of one run, by the author, branch and node path of events. Those of parallel agents interleave. */
export class AdkLanes {
  readonly #options: LanesOptions
  readonly #lanes = new Map<string, AdkLane>()
  #latest: AdkLane | undefined
  #hasReported = false

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
      onMismatch: () => this.#reportMismatch(author),
    })
  }

  #reportMismatch(author: string): void {
    if (this.#hasReported) return
    this.#hasReported = true
    this.#options.report(
      `'${author}' streamed one text and then gave another as the whole; clients keep what was streamed`,
    )
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
  /** Called when a complete text is not the streamed one. */
  readonly onMismatch: () => void
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
  readonly #onMismatch: () => void

  constructor(fields: LaneFields) {
    this.author = fields.author
    this.branch = fields.branch
    this.path = fields.path
    this.kind = fields.kind
    this.hidesText = fields.hidesText
    this.needsSpan = this.kind === 'agent' || (this.kind === 'node' && this.path !== undefined)
    this.writer = fields.writer
    this.#onMismatch = fields.onMismatch
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

  /** Writes what a complete answer adds to its chunks. */
  writeWhole(kind: MessageKind, text: string): void {
    const rest = this.#streamed(kind).takeWhole(text)
    if (rest === undefined) {
      this.#writeUndecided(kind)
      if (text !== '') this.#onMismatch()
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

  /** Ends an answer, complete or broken off. */
  finishAnswer(): void {
    this.#writeUndecided('reasoning')
    this.#writeUndecided('text')
    this.writer.end()
    this.reasoning.reset()
    this.text.reset()
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

  #writeUndecided(kind: MessageKind): void {
    const delta = this.#streamed(kind).takeUndecided()
    if (delta !== '') this.#continue(kind, delta)
  }
}

import type { ToolCallChunk } from '@langchain/core/messages'
import { toText } from './json-safe.js'
import type { ToolCalls } from './tool-calls.js'

interface OpenCall {
  readonly index: number | string | undefined
  /** The id that the provider has given. */
  givenId: string | undefined
  /** The id it was told under. Undefined before it was. */
  toolCallId: string | undefined
  name: string | undefined
  /** The arguments as far as they came. */
  args: string
  /** It was told before, by somebody else: its pieces are not told again. */
  isRepeat: boolean
}

export interface CallPiecesOptions {
  readonly calls: ToolCalls
  readonly span: string | undefined
  readonly messageId: () => string
  readonly report: (problem: string) => void
}

/**
 * The calls in one answer of a model, put together from their pieces. Providers differ: some number the calls, some
 * name them, some repeat id and name with every piece, some send each call at once without either.
 */
export class CallPieces {
  readonly #options: CallPiecesOptions
  readonly #all: OpenCall[] = []

  constructor(options: CallPiecesOptions) {
    this.#options = options
  }

  take(piece: ToolCallChunk): void {
    const { id, name, args, index } = piece
    const call = this.#find(piece) ?? this.#add(index)
    if (id) this.#identify(call, id)
    if (name && call.name === undefined) call.name = name
    const delta = argsText(args)
    call.args += delta
    if (call.name === undefined) return
    if (call.toolCallId === undefined) this.#tell(call, call.args)
    else if (delta !== '' && !call.isRepeat)
      this.#options.calls.args(call.toolCallId, delta, this.#options.span)
  }

  /** What the whole answer has: its calls in order. Those that were told stay as they were told. */
  complete(whole: readonly WholeCall[]): void {
    const told = new Set<OpenCall>()
    for (const { id, name, args } of whole) {
      const open = this.#all.filter((call) => !told.has(call))
      const call =
        open.find(({ givenId }) => givenId !== undefined && givenId === id) ??
        open.find(({ givenId, name: given }) => givenId === undefined && (given ?? name) === name) ??
        this.#add(undefined)
      told.add(call)
      if (id) this.#identify(call, id)
      call.name ??= name
      if (call.toolCallId === undefined) this.#tell(call, call.args === '' ? argsText(args) : call.args)
    }
  }

  end(): void {
    const { calls, span } = this.#options
    for (const { toolCallId, isRepeat, args } of this.#all) {
      if (toolCallId === undefined || isRepeat) continue
      // Clients parse the arguments; none at all are no JSON.
      if (args === '') calls.args(toolCallId, '{}', span)
      calls.end(toolCallId, span)
    }
    this.#all.length = 0
  }

  /** The answer broke off: nobody is going to run its calls. Gives those that were told. */
  giveUp(): readonly string[] {
    const { calls, span } = this.#options
    const told = this.#all.flatMap(({ toolCallId, isRepeat }) =>
      toolCallId === undefined || isRepeat ? [] : [toolCallId],
    )
    for (const id of told) {
      calls.giveUp(id)
      calls.end(id, span)
    }
    this.#all.length = 0
    return told
  }

  #find({ id, name, index }: ToolCallChunk): OpenCall | undefined {
    const found = this.#lookUp(id, index)
    if (!found) return undefined
    if (id && found.givenId !== undefined && found.givenId !== id) return undefined
    if (index !== undefined || id || !name || found.name === undefined) return found
    // Neither numbered nor identified: the name begins another call, unless it only repeats that of an unfinished one.
    return found.name === name && !isWhole(found.args) ? found : undefined
  }

  #lookUp(id: string | undefined, index: number | string | undefined): OpenCall | undefined {
    if (index !== undefined) return this.#all.findLast((call) => call.index === index)
    if (id) return this.#all.findLast(({ givenId }) => givenId === id)
    return this.#all.at(-1)
  }

  #add(index: number | string | undefined): OpenCall {
    const call = {
      index,
      givenId: undefined,
      toolCallId: undefined,
      name: undefined,
      args: '',
      isRepeat: false,
    }
    this.#all.push(call)
    return call
  }

  #identify(call: OpenCall, id: string): void {
    if (call.givenId !== undefined) return
    call.givenId = id
    if (call.toolCallId !== undefined && call.toolCallId !== id)
      this.#options.calls.alias(id, call.toolCallId)
  }

  #tell(call: OpenCall, args: string): void {
    const { calls, span, messageId, report } = this.#options
    const parentMessageId = messageId()
    const id = call.givenId ?? `${parentMessageId}:tc${this.#all.indexOf(call)}`
    call.toolCallId = id
    call.args = args
    call.isRepeat = !calls.start({ id, name: call.name ?? '', parentMessageId, span })
    if (call.isRepeat) report(`tool call '${id}' has the id of an earlier one; it was left out`)
    else if (args !== '') calls.args(id, args, span)
  }
}

export interface WholeCall {
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly args?: unknown
}

function argsText(args: unknown): string {
  return args === undefined || args === null ? '' : toText(args)
}

function isWhole(args: string): boolean {
  if (args === '') return false
  try {
    JSON.parse(args)
    return true
  } catch {
    return false
  }
}

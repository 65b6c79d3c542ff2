import { BaseLlm, type Event, type LlmRequest, type LlmResponse } from '@google/adk'

type Content = NonNullable<Event['content']>
type Parts = NonNullable<Content['parts']>

/** One answer of a scripted model: its responses, or a function that makes them. An Error among them is thrown. */
export type LlmStep =
  | readonly (LlmResponse | Error)[]
  | ((request: LlmRequest, signal: AbortSignal | undefined) => AsyncIterable<LlmResponse>)

/** A model that answers from a script and keeps its requests. Fails when the script has no more answers. */
export class ScriptedLlm extends BaseLlm {
  /** A copy of the contents of each request. */
  readonly calls: Content[][] = []
  readonly requests: LlmRequest[] = []
  readonly #steps: readonly LlmStep[]

  constructor(steps: readonly LlmStep[]) {
    super({ model: 'scripted' })
    this.#steps = steps
  }

  override async *generateContentAsync(
    request: LlmRequest,
    _stream?: boolean,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    const step = this.#steps[this.calls.length]
    this.calls.push(structuredClone(request.contents))
    this.requests.push(request)
    if (!step) throw new Error(`The script has no answer ${this.calls.length}.`)
    for await (const response of typeof step === 'function' ? step(request, signal) : step) {
      if (response instanceof Error) throw response
      // A copy: ADK writes into what it is given, and a script may be used twice.
      yield structuredClone(response)
    }
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('A scripted model has no live connection.'))
  }
}

/** A streamed text: a partial for each piece, then the whole. */
export function says(...pieces: string[]): LlmResponse[] {
  return [...pieces.map(partial), whole([{ text: pieces.join('') }])]
}

export function partial(text: string): LlmResponse {
  return { content: { role: 'model', parts: [{ text }] }, partial: true }
}

/** A streamed thought, not the whole of it. */
export function partialThought(text: string): LlmResponse {
  return { content: { role: 'model', parts: [{ text, thought: true }] }, partial: true }
}

/** A complete answer, after partials or without any. */
export function whole(parts: Parts, fields: Partial<LlmResponse> = {}): LlmResponse {
  return { content: { role: 'model', parts }, partial: false, ...fields }
}

/** A call of one tool, or of several at once. ADK gives ids to those that have none. */
export function callsTool(
  ...calls: readonly { name: string; args?: Record<string, unknown>; id?: string }[]
): LlmResponse[] {
  return [whole(calls.map(({ args = {}, ...call }) => ({ functionCall: { ...call, args } })))]
}

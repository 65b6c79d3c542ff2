import type { Event, LlmResponse } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { FunctionCall, Part } from '../adk-types.js'
import { isAlwaysShown } from '../session/session-events.js'
import { callIdFor } from './call-ids.js'

/** A piece of a call whose arguments are still being written. */
export interface StreamedCall {
  readonly id: string
  readonly name: string
  readonly partialArgs: NonNullable<FunctionCall['partialArgs']>
}

/** A part that ADK takes for an empty text: it runs the tool of every call that it sees, also in the middle of it. */
export interface StreamedCallPart extends Part {
  readonly streamedCall: StreamedCall
}

interface KnownCall extends Pick<StreamedCall, 'id' | 'name'> {
  /** The id that the model, or ADK, gave it. */
  readonly givenId: string | undefined
}

/** The calls in the partial answers of one agent, until the complete answer repeats them. */
export class StreamedCalls {
  readonly #known: KnownCall[] = []
  #current: KnownCall | undefined

  /** Hides the calls of a partial answer from ADK. Shows those whose arguments come in pieces; the others come again. */
  hide(response: LlmResponse, newId: IdSource, events: readonly Event[]): void {
    const { content } = response
    const parts = content?.parts?.flatMap((part): readonly Part[] => {
      if (!part.functionCall) return [part]
      const streamedCall = this.#streamed(part.functionCall, newId, events)
      const shown: StreamedCallPart | undefined = streamedCall && { text: '', streamedCall }
      return shown ? [shown] : []
    })
    if (!content || !parts) return
    if (parts.length > 0) response.content = { ...content, parts }
    else delete response.content
  }

  /** The id under which a call of the complete answer was shown, once. */
  take({ id, name }: FunctionCall): string | undefined {
    const index = this.#known.findIndex((known) =>
      id === undefined || id === '' ? known.name === name : known.givenId === id,
    )
    return index === -1 ? undefined : this.#known.splice(index, 1)[0]?.id
  }

  #streamed(call: FunctionCall, newId: IdSource, events: readonly Event[]): StreamedCall | undefined {
    const { name, partialArgs = [], willContinue = false } = call
    // The name comes with the first piece.
    if (name !== undefined && name !== '') this.#current = undefined
    const isFirst = !this.#current && isAlwaysShown(call) && (willContinue || partialArgs.length > 0)
    if (isFirst && name !== undefined) {
      this.#current = { id: callIdFor(call, newId, events), name, givenId: call.id }
      this.#known.push(this.#current)
    }
    const current = this.#current
    if (!willContinue) this.#current = undefined
    return current && { id: current.id, name: current.name, partialArgs }
  }
}

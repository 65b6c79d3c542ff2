import { isEqual, parseJson } from '../../core/json.js'
import type { StreamedCall } from '../tools/streamed-calls.js'

type PartialArg = StreamedCall['partialArgs'][number]

/**
 * Writes arguments that come value by value, each with its path, as the text of one JSON object. As ADK does, it takes an
 * index of an array for a key.
 */
export class StreamedArguments {
  #text = ''
  /** The keys down to the value that was written last. */
  #path: readonly string[] = []
  /** The value that was written last is a text that may go on. */
  #isInText = false

  /** Returns the new text. */
  add(partialArgs: readonly PartialArg[]): string {
    const before = this.#text.length
    for (const arg of partialArgs) this.#addValue(arg)
    return this.#text.slice(before)
  }

  /** Returns the rest of the text. `isSame`: it says the same as these arguments. */
  finish(args: unknown): { readonly rest: string; readonly isSame: boolean } {
    if (this.#text === '') return { rest: JSON.stringify(args), isSame: true }
    const rest = `${this.#endOfText()}${'}'.repeat(this.#path.length)}`
    return { rest, isSame: isEqual(parseJson(this.#text + rest), args) }
  }

  #addValue({ jsonPath, stringValue, numberValue, boolValue, nullValue }: PartialArg): void {
    const path = keysOf(jsonPath)
    const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null)
    if (path.length === 0 || value === undefined) return
    const json = JSON.stringify(value)
    const isText = typeof value === 'string'
    if (this.#isInText && isText && isEqual(path, this.#path)) this.#text += json.slice(1, -1)
    else this.#text += this.#moveTo(path) + (isText ? json.slice(0, -1) : json)
    this.#path = path
    this.#isInText = isText
  }

  /** Ends what is open beside the path, and begins what is not. */
  #moveTo(path: readonly string[]): string {
    const old = this.#path
    const last = Math.min(old.length, path.length) - 1
    let shared = 0
    while (shared < last && old[shared] === path[shared]) shared++
    const begin = path
      .slice(shared)
      .map((key) => JSON.stringify(key))
      .join(':{')
    if (old.length === 0) return `{${begin}:`
    return `${this.#endOfText()}${'}'.repeat(old.length - 1 - shared)},${begin}:`
  }

  #endOfText(): string {
    return this.#isInText ? '"' : ''
  }
}

const step = /\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/gu

/** The keys of a path such as `$.address.lines[0]`. */
function keysOf(jsonPath = ''): string[] {
  return Array.from(jsonPath.matchAll(step), ([, member, index, quoted, doubled]) =>
    [member, index, quoted, doubled].find((key) => key !== undefined),
  ).flatMap((key) => key ?? [])
}

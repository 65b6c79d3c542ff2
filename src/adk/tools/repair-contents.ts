import type { Content, FunctionCall, Part } from '../adk-types.js'

/** What a model is told in the place of a result that never came. */
export const noResult = {
  status: 'no_result',
  message: 'There is no result: the user went on without it, or the run was stopped.',
} as const

/**
 * A conversation that models accept: each content with function calls is followed by one with the responses to exactly
 * these calls, in their order. Responses are moved to their calls, the first of several for a call wins, missing ones say
 * that there is no result, and those of calls that are not there become text of the user. What else stood beside a
 * response follows it. Gives back `contents` itself when nothing is wrong, and never changes it.
 */
export function repairContents(contents: readonly Content[]): readonly Content[] {
  if (!contents.some(hasCalls) && !contents.some(hasResponses)) return contents
  if (isRight(contents)) return contents
  const calls = new Set(contents.flatMap((content) => callsOf(content).flatMap(({ id }) => id ?? [])))
  const open = new Responses(contents)
  const repaired: Content[] = []
  contents.forEach((content, at) => {
    const rest = open.rest(content, calls)
    if (rest) repaired.push(rest)
    if (!hasCalls(content)) return
    const parts = callsOf(content).map((call) => open.take(call, at) ?? missing(call))
    repaired.push({ role: 'user', parts })
  })
  return repaired
}

interface Place {
  readonly part: Part
  /** The index of its content. */
  readonly at: number
}

/** The responses of a conversation that no call has taken yet. */
class Responses {
  readonly #byId = new Map<string, Place[]>()
  readonly #withoutId: Place[] = []

  constructor(contents: readonly Content[]) {
    contents.forEach((content, at) => {
      for (const part of content.parts ?? []) {
        if (!part.functionResponse) continue
        const { id } = part.functionResponse
        const places = id === undefined ? this.#withoutId : (this.#byId.get(id) ?? [])
        places.push({ part, at })
        if (id !== undefined) this.#byId.set(id, places)
      }
    })
  }

  /** The response to a call: the next one behind it. Without ids it is the next of the same name. */
  take({ id, name }: FunctionCall, at: number): Part | undefined {
    if (id !== undefined) {
      const places = this.#byId.get(id) ?? []
      return (places.find(({ at: where }) => where > at) ?? places[0])?.part
    }
    const found = this.#withoutId.findIndex(
      ({ part, at: where }) => where > at && part.functionResponse?.name === name,
    )
    return found < 0 ? undefined : this.#withoutId.splice(found, 1)[0]?.part
  }

  /** A content without its responses; those of calls that are not there as text. */
  rest(content: Content, calls: ReadonlySet<string>): Content | undefined {
    if (!hasResponses(content)) return (content.parts?.length ?? 0) > 0 ? content : undefined
    const parts = (content.parts ?? []).flatMap((part) => {
      const { functionResponse: response } = part
      if (!response) return [part]
      // One without an id that no call takes is most likely a copy.
      if (response.id === undefined || calls.has(response.id)) return []
      return [
        {
          text: `The tool \`${response.name ?? ''}\` returned: ${JSON.stringify(response.response ?? null)}`,
        },
      ]
    })
    return parts.length === 0 ? undefined : { ...content, parts }
  }
}

function isRight(contents: readonly Content[]): boolean {
  return contents.every((content, at) => {
    if ((content.parts?.length ?? 0) === 0) return false
    const before = at > 0 ? contents[at - 1] : undefined
    const calls = before ? callsOf(before) : []
    if (calls.length === 0 && !hasResponses(content)) return !hasCalls(content) || at + 1 < contents.length
    const parts = content.parts ?? []
    return parts.length === calls.length && calls.every((call, index) => answers(parts[index], call))
  })
}

function answers(part: Part | undefined, { id, name }: FunctionCall): boolean {
  const response = part?.functionResponse
  return response !== undefined && response.id === id && (id !== undefined || response.name === name)
}

function missing({ id, name }: FunctionCall): Part {
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      response: { ...noResult },
    },
  }
}

function callsOf({ parts = [] }: Content): FunctionCall[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? [])
}

function hasCalls({ parts = [] }: Content): boolean {
  return parts.some(({ functionCall }) => functionCall)
}

function hasResponses({ parts = [] }: Content): boolean {
  return parts.some(({ functionResponse }) => functionResponse)
}

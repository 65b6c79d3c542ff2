import type { Context, InvocationContext } from '@google/adk'
import type { Content, FunctionCall, Part } from '../adk-types.js'

/** The result that a model gets for a call without one. */
export const noResult = {
  status: 'no_result',
  message: 'There is no result: the user went on without it, or the run was stopped.',
} as const

/**
 * A conversation that models accept: a content with the responses to exactly its calls, in their order, follows each
 * content with function calls. Responses move to their calls, the first of several for a call wins, missing ones say that
 * there is no result, and responses to unknown calls become text of the user. Other parts beside a response follow it.
 * Returns `contents` itself when nothing is wrong, and never changes it.
 */
export function repairContents(contents: readonly Content[]): readonly Content[] {
  // In one go: most of a long conversation has neither.
  if (!contents.some((content) => hasCalls(content) || hasResponsePart(content)) || isWellFormed(contents))
    return contents
  const calls = new Set(contents.flatMap((content) => callsIn(content).flatMap(({ id }) => id ?? [])))
  const responses = new UntakenResponses(contents)
  const repaired: Content[] = []
  contents.forEach((content, at) => {
    const rest = withoutResponses(content, calls)
    if (rest) repaired.push(rest)
    if (!hasCalls(content)) return
    const parts = callsIn(content).map((call) => responses.take(call, at) ?? missingResponse(call))
    repaired.push({ role: 'user', parts })
  })
  return repaired
}

function isWellFormed(contents: readonly Content[]): boolean {
  return contents.every((content, at) => {
    if ((content.parts?.length ?? 0) === 0) return false
    const before = at > 0 ? contents[at - 1] : undefined
    const calls = before ? callsIn(before) : []
    if (calls.length === 0 && !hasResponsePart(content)) return !hasCalls(content) || at + 1 < contents.length
    const parts = content.parts ?? []
    return parts.length === calls.length && calls.every((call, index) => respondsTo(parts[index], call))
  })
}

function respondsTo(part: Part | undefined, { id, name }: FunctionCall): boolean {
  const response = part?.functionResponse
  return response !== undefined && response.id === id && (id !== undefined || response.name === name)
}

interface IndexedResponse {
  readonly part: Part
  /** The index of its content. */
  readonly at: number
}

/** The responses of a conversation that no call has taken yet. */
class UntakenResponses {
  readonly #byId = new Map<string, IndexedResponse[]>()
  readonly #withoutId: IndexedResponse[] = []

  constructor(contents: readonly Content[]) {
    contents.forEach((content, at) => {
      for (const part of content.parts ?? []) {
        if (!part.functionResponse) continue
        const { id } = part.functionResponse
        const responses = id === undefined ? this.#withoutId : (this.#byId.get(id) ?? [])
        responses.push({ part, at })
        if (id !== undefined) this.#byId.set(id, responses)
      }
    })
  }

  /** The next response after a call; without ids, the next of the same name. */
  take({ id, name }: FunctionCall, callAt: number): Part | undefined {
    if (id !== undefined) {
      const responses = this.#byId.get(id) ?? []
      return (responses.find(({ at }) => at > callAt) ?? responses[0])?.part
    }
    const found = this.#withoutId.findIndex(
      ({ part, at }) => at > callAt && part.functionResponse?.name === name,
    )
    return found < 0 ? undefined : this.#withoutId.splice(found, 1)[0]?.part
  }
}

/** A content without its responses; those to unknown calls as text. */
function withoutResponses(content: Content, calls: ReadonlySet<string>): Content | undefined {
  if (!hasResponsePart(content)) return (content.parts?.length ?? 0) > 0 ? content : undefined
  const parts = (content.parts ?? []).flatMap((part) => {
    const { functionResponse: response } = part
    if (!response) return [part]
    // A response without an id that no call takes is most likely a copy.
    if (response.id === undefined || calls.has(response.id)) return []
    const { name = '', response: value = null } = response
    return [{ text: `The tool \`${name}\` returned: ${JSON.stringify(value)}` }]
  })
  return parts.length === 0 ? undefined : { ...content, parts }
}

function missingResponse({ id, name }: FunctionCall): Part {
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      response: { ...noResult },
    },
  }
}

function callsIn({ parts = [] }: Content): FunctionCall[] {
  return parts.flatMap(({ functionCall }) => functionCall ?? [])
}

function hasCalls({ parts }: Content): boolean {
  return parts?.some(({ functionCall }) => functionCall) === true
}

function hasResponsePart({ parts }: Content): boolean {
  return parts?.some(({ functionResponse }) => functionResponse) === true
}

type RequestContext = Pick<InvocationContext, 'session' | 'branch' | 'isolationScope'>

/**
 * A conversation that begins with the user, as Gemini demands. One that begins with the model, as that of a workflow node
 * that resumes, gets the latest text of the user before it.
 */
export function withUserFirst(contents: readonly Content[], context: RequestContext): readonly Content[] {
  const [first] = contents
  if (first?.role !== 'model') return contents
  const parts = latestUserText(first, context) ?? [{ text: 'Begin.' }]
  return [{ role: 'user', parts }, ...contents]
}

function latestUserText(
  first: Content,
  { session, branch, isolationScope }: RequestContext,
): Part[] | undefined {
  const { events } = session
  const begin = events.findLastIndex(({ content }) => content !== undefined && isSameContent(content, first))
  for (const event of events.slice(0, begin < 0 ? undefined : begin).reverse()) {
    const isVisible =
      isWithinBranch(branch, event.branch) && (event.isolationScope ?? isolationScope) === isolationScope
    const parts = event.author === 'user' && isVisible ? textParts(event.content) : []
    if (parts.length > 0) return parts
  }
  return undefined
}

/** Whether a request's content was made of a stored one: ids that ADK made are not in requests. */
function isSameContent(stored: Content, sent: Content): boolean {
  return (
    stored.role === sent.role &&
    stored.parts?.length === sent.parts?.length &&
    (stored.parts ?? []).every((part, index) => {
      const other = sent.parts?.[index]
      const hasName = part.functionCall?.name === other?.functionCall?.name
      const hasId = part.functionCall?.id === (other?.functionCall?.id ?? part.functionCall?.id)
      return part.text === other?.text && hasName && hasId
    })
  )
}

/** Whether a branch sees events of another: of itself and of those it comes out of. */
function isWithinBranch(branch: string | undefined, of: string | undefined): boolean {
  return of === undefined || of === branch || (branch?.startsWith(`${of}.`) ?? false)
}

function textParts(content: Content | undefined): Part[] {
  return (content?.parts ?? []).flatMap(({ text }) => (text ? [{ text }] : []))
}

/** A tool's response that ADK has dropped. */
export interface DroppedResult {
  readonly id: string
  readonly name: string
  readonly response: Record<string, unknown>
}

/**
 * Keeps the results of tools until the next request of their agent: ADK drops them when a call beside them asks for
 * confirmation. Changes by an `afterToolCallback` of the agent are not in them.
 */
export class DroppedResults {
  readonly #steps = new Map<InvocationContext, Map<string, DroppedResult>>()
  readonly #errors = new WeakMap<Context, string>()

  record(
    { name, isLongRunning }: { readonly name: string; readonly isLongRunning: boolean },
    context: Context,
    result: unknown,
  ): void {
    const { functionCallId: id, actions, invocationContext } = context
    if (id === undefined || id in actions.requestedToolConfirmations) return
    const error = this.#errors.get(context)
    if (isLongRunning && (result === null || result === undefined) && error === undefined) return
    const step = this.#steps.get(invocationContext) ?? new Map<string, DroppedResult>()
    this.#steps.set(invocationContext, step)
    step.set(id, { id, name, response: error === undefined ? wrapResult(result) : { error } })
  }

  recordError(context: Context, { message }: Error): void {
    this.#errors.set(context, message)
  }

  clear(context: InvocationContext): void {
    this.#steps.delete(context)
  }

  /** Returns the results of these calls, once. */
  take(callIds: readonly string[]): DroppedResult[] {
    return callIds.flatMap((id) => {
      for (const step of this.#steps.values()) {
        const result = step.get(id)
        if (result && step.delete(id)) return [result]
      }
      return []
    })
  }
}

/** As ADK wraps results that are no objects. */
function wrapResult(result: unknown): Record<string, unknown> {
  if (Array.isArray(result)) return { results: result }
  if (typeof result === 'object' && result !== null) return result as Record<string, unknown>
  return { result: result ?? null }
}

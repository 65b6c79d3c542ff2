import { AuthPreprocessor, ContentRequestProcessor, type Event, type LlmAgent } from '@google/adk'
import type { Content, FunctionResponse, Part } from '../adk-types.js'
import { isRequestCall, isRequestPart, requestNames, unwrapAnswer } from '../interrupts/request-calls.js'
import { firstCallEvent } from '../session/session-events.js'
import { withWholeAnswers } from './whole-answers.js'

type Processor = LlmAgent['requestProcessors'][number]

/**
 * The steps that make a model request. ADK's own steps for the conversation and for credentials read the session's events
 * in a form that they handle correctly. Only they see that form: all others, and the plugins, have the session itself.
 */
export function modelEventProcessors({ name, requestProcessors }: LlmAgent): Processor[] {
  return requestProcessors.map((processor) => {
    if (processor instanceof ContentRequestProcessor) return withModelEvents(processor, name)
    return processor instanceof AuthPreprocessor ? withCallsInOneEvent(processor, name) : processor
  })
}

/** Of several credentials, ADK uses those for the calls of one event only. */
function withCallsInOneEvent(processor: AuthPreprocessor, agentName: string): Processor {
  return {
    async *runAsync(context) {
      const { session } = context
      const answers = (session.events.at(-1)?.content?.parts ?? []).filter(isRequestPart)
      if (answers.length < 2) return yield* processor.runAsync(context)
      const events = [...withWholeAnswers(session.events, agentName)]
      yield* processor.runAsync(context.clone({ session: { ...session, events } }))
    },
  }
}

function withModelEvents(processor: ContentRequestProcessor, agentName: string): Processor {
  return {
    async *runAsync(context, request) {
      const { events } = context.session
      const shown = eventsForModel(events, agentName)
      if (shown === events) return yield* processor.runAsync(context, request)
      const session = { ...context.session, events: [...shown] }
      yield* processor.runAsync(context.clone({ session }), request)
      request.contents = withInputNames(request.contents)
    },
  }
}

function eventsForModel(events: readonly Event[], agentName: string): readonly Event[] {
  // Events before the first call or result stay as they are.
  const first = firstCallEvent(events)
  if (first === -1) return events
  const seen = withDisguisedInputs(withoutForeignResults(events.slice(first), agentName), agentName)
  const attributed = withTextOfAnswers(resultsByCaller(seen), agentName)
  return [...events.slice(0, first), ...withWholeAnswers(attributed, agentName)]
}

/**
 * Drops results at the end that are not for this agent. ADK throws when the last thing an agent sees is a result without
 * its call: one for a parallel agent, or for the agent before it.
 */
function withoutForeignResults(events: readonly Event[], agentName: string): readonly Event[] {
  // After the agent's own last event, and after the user's last message.
  const start =
    events.findLastIndex(
      (event) => event.author === agentName || (event.author === 'user' && !hasResponseParts(event)),
    ) + 1
  const newest = events.slice(start)
  if (!newest.some((event) => clientResults(event).length > 0)) return events
  const own = new Set(
    events
      .filter(({ author }) => author === agentName)
      .flatMap(({ content }) => content?.parts ?? [])
      .flatMap(({ functionCall }) => functionCall?.id ?? []),
  )
  return [...events.slice(0, start), ...newest.flatMap((event) => withOwnResults(event, own))]
}

function withOwnResults(event: Event, own: ReadonlySet<string>): readonly Event[] {
  const foreign = new Set(clientResults(event).filter((part) => !own.has(part.functionResponse?.id ?? '')))
  if (foreign.size === 0) return [event]
  const parts = event.content?.parts?.filter((part) => !foreign.has(part)) ?? []
  return parts.length === 0 ? [] : [{ ...event, content: { ...event.content, parts } }]
}

/** Tool results in an event of the user: those of client tools. */
function clientResults({ author, content }: Event): readonly Part[] {
  if (author !== 'user') return []
  return (content?.parts ?? []).filter(
    ({ functionResponse }) => functionResponse && !isRequestCall(functionResponse),
  )
}

function hasResponseParts({ content }: Event): boolean {
  return content?.parts?.some(({ functionResponse }) => functionResponse) ?? false
}

/** ADK does not know its own request under this name, and leaves it in the conversation. */
const disguise = 'millrace_request_input'

/**
 * Keeps the inputs that the agent's model requested, and results that came beside an answer. ADK leaves out every event
 * with a request or an answer of its own: it loses what the model asked with `requestInputTool`, and the answer.
 */
function withDisguisedInputs(events: readonly Event[], agentName: string): readonly Event[] {
  const inputs = answeredInputs(events, agentName)
  return events.map((event) => {
    const parts = event.content?.parts
    if (!parts?.some(isRequestPart)) return event
    const shown = parts.map((part) => (inputs.has(callIdOf(part)) ? disguised(part) : part))
    return { ...event, content: { ...event.content, parts: withoutRequestAnswers(event, shown) } }
  })
}

/** Undoes the disguise in a request, so that models see the tool name they know. */
function withInputNames(contents: readonly Content[]): Content[] {
  return contents.map((content) => {
    if (!content.parts?.some((part) => callNameOf(part) === disguise)) return content
    const parts = content.parts.map((part) => (callNameOf(part) === disguise ? undisguised(part) : part))
    return { ...content, parts }
  })
}

/** Ids of the inputs that the agent's model requested with a tool and that are answered. */
function answeredInputs(events: readonly Event[], agentName: string): ReadonlySet<string | undefined> {
  const requested = new Set<string>()
  const answered = new Set<string>()
  for (const { author, content } of events) {
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      if (author === agentName && functionCall?.name === requestNames.input && functionCall.id !== undefined)
        requested.add(functionCall.id)
      if (functionResponse?.id !== undefined && requested.has(functionResponse.id))
        answered.add(functionResponse.id)
    }
  }
  return answered
}

/** Removes answers to other requests, which mean nothing to a model, from events with other parts. */
function withoutRequestAnswers({ author }: Event, parts: Part[]): Part[] {
  const rest = parts.filter((part) => !isRequestPart(part))
  return author === 'user' && rest.length > 0 ? rest : parts
}

function callNameOf({ functionCall, functionResponse }: Part): string | undefined {
  return functionCall?.name ?? functionResponse?.name
}

function callIdOf({ functionCall, functionResponse }: Part): string | undefined {
  return functionCall?.id ?? functionResponse?.id
}

function disguised({ functionCall, functionResponse, ...part }: Part): Part {
  if (functionCall) return { ...part, functionCall: { ...functionCall, name: disguise } }
  const result = unwrapAnswer(functionResponse?.response) ?? 'The user gave no answer.'
  return { ...part, functionResponse: withName(functionResponse, disguise, { result }) }
}

function undisguised({ functionCall, functionResponse, ...part }: Part): Part {
  const { input } = requestNames
  if (functionCall) return { ...part, functionCall: { ...functionCall, name: input } }
  return { ...part, functionResponse: withName(functionResponse, input, functionResponse?.response) }
}

function withName(
  response: FunctionResponse | undefined,
  name: string,
  value: Record<string, unknown> | undefined,
): FunctionResponse {
  return { ...(response?.id === undefined ? {} : { id: response.id }), name, response: value ?? {} }
}

/**
 * Attributes the results of client tools to the agents that made the calls, as if tools of theirs had returned them. ADK
 * would take them for messages of the user: a workflow node, which sees only what came after those, would forget its
 * earlier work, and other agents would see results of calls that they know nothing of.
 */
export function resultsByCaller(events: readonly Event[]): readonly Event[] {
  const callers = new Map<string, Event>()
  return events.flatMap((event) => {
    const parts = event.content?.parts ?? []
    for (const { functionCall } of parts)
      if (functionCall?.id !== undefined) callers.set(functionCall.id, event)
    if (event.author !== 'user') return [event]
    const callerOf = ({ functionResponse }: Part): Event | undefined =>
      functionResponse && !isRequestCall(functionResponse)
        ? callers.get(functionResponse.id ?? '')
        : undefined
    const found = new Set(parts.flatMap((part) => callerOf(part) ?? []))
    if (found.size === 0) return [event]
    const results = Array.from(found, (caller) => {
      const own = parts.filter((part) => callerOf(part) === caller)
      return resultOfCaller(event, caller, own)
    })
    const rest = parts.filter((part) => !callerOf(part))
    return rest.length === 0
      ? results
      : [...results, { ...event, content: { ...event.content, parts: rest } }]
  })
}

function resultOfCaller(event: Event, { author, branch }: Event, parts: Part[]): Event {
  const { author: _, branch: __, ...rest } = event
  return {
    ...rest,
    content: { role: 'user', parts },
    ...(author === undefined ? {} : { author }),
    ...(branch === undefined ? {} : { branch }),
  }
}

/**
 * Attributes what the user wrote with results or answers to the agent that gets them. A workflow node sees only what came
 * after the user's last message: it would not see the results.
 */
function withTextOfAnswers(events: readonly Event[], agentName: string): readonly Event[] {
  return events.map((event, index) => {
    if (event.author !== 'user' || event.content?.parts?.some(isRequestPart)) return event
    const next = events[index + 1]
    const isBeforeAnswers = next?.author === 'user' && next.content?.parts?.some(isRequestPart) === true
    // The results were in the same event.
    const isBehindResults = events[index - 1]?.id === event.id
    return isBeforeAnswers || isBehindResults ? { ...event, author: agentName } : event
  })
}

import type { Event } from '@google/adk'
import type { Content, FunctionResponse, Part } from '../adk-types.js'
import { isRequestName, requestNames } from './function-names.js'
import { unwrapped } from './wrap.js'

/** Under this name ADK does not know its own question, and leaves it in the conversation. */
const disguise = 'millrace_request_input'

/**
 * The events of a session as ADK should read them to make an agent's conversation of them. ADK leaves out every event
 * with a question or an answer of its own, and so loses what the model asked by `requestInputTool` and was told, and
 * the results that came in one message with an answer. Give what ADK made of it to `withOwnNames`.
 */
export function eventsForModel(events: readonly Event[], agentName: string): readonly Event[] {
  const inputs = answeredInputs(events, agentName)
  return events.map((event) => {
    const parts = event.content?.parts
    if (!parts?.some(isRequestPart)) return event
    const shown = parts.map((part) => (inputs.has(idOf(part)) ? disguised(part) : part))
    return { ...event, content: { ...event.content, parts: withoutAnswers(event, shown) } }
  })
}

/** The conversation with the names that models know. */
export function withOwnNames(contents: readonly Content[]): Content[] {
  return contents.map((content) => {
    if (!content.parts?.some((part) => nameOf(part) === disguise)) return content
    return {
      ...content,
      parts: content.parts.map((part) => (nameOf(part) === disguise ? undisguised(part) : part)),
    }
  })
}

/** Questions that the model of this agent has asked by a tool, and that are answered. */
function answeredInputs(events: readonly Event[], agentName: string): ReadonlySet<string | undefined> {
  const asked = new Set<string>()
  const answered = new Set<string>()
  for (const { author, content } of events) {
    for (const { functionCall, functionResponse } of content?.parts ?? []) {
      if (author === agentName && functionCall?.name === requestNames.input && functionCall.id !== undefined)
        asked.add(functionCall.id)
      if (functionResponse?.id !== undefined && asked.has(functionResponse.id))
        answered.add(functionResponse.id)
    }
  }
  return answered
}

/** Answers to ADK's other questions say nothing to a model: beside something else they are taken out. */
function withoutAnswers({ author }: Event, parts: Part[]): Part[] {
  const rest = parts.filter((part) => !isRequestPart(part))
  return author === 'user' && rest.length > 0 ? rest : parts
}

function isRequestPart(part: Part): boolean {
  return isRequestName(nameOf(part))
}

function nameOf({ functionCall, functionResponse }: Part): string | undefined {
  return functionCall?.name ?? functionResponse?.name
}

function idOf({ functionCall, functionResponse }: Part): string | undefined {
  return functionCall?.id ?? functionResponse?.id
}

function disguised({ functionCall, functionResponse, ...part }: Part): Part {
  if (functionCall) return { ...part, functionCall: { ...functionCall, name: disguise } }
  const result = unwrapped(functionResponse?.response) ?? 'The user gave no answer.'
  return { ...part, functionResponse: responseOf(functionResponse, disguise, { result }) }
}

function undisguised({ functionCall, functionResponse, ...part }: Part): Part {
  if (functionCall) return { ...part, functionCall: { ...functionCall, name: requestNames.input } }
  return {
    ...part,
    functionResponse: responseOf(functionResponse, requestNames.input, functionResponse?.response),
  }
}

function responseOf(
  response: FunctionResponse | undefined,
  name: string,
  value: Record<string, unknown> | undefined,
): FunctionResponse {
  return { ...(response?.id === undefined ? {} : { id: response.id }), name, response: value ?? {} }
}

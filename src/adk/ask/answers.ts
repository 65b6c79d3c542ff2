import type { Event } from '@google/adk'
import type { Answer } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import type { FunctionCall, Part } from '../adk-types.js'
import { credentialFrom } from './credential.js'
import type { Question } from './questions.js'
import { field } from './redact.js'
import { wrapped } from './wrap.js'

/**
 * The answer to a question as ADK takes it. `events` are those of the session, with the one that asked: an answer to a
 * request for credentials is bound to that request here, on the server. Throws INVALID_RESUME for an answer that is of
 * no use.
 *
 * What is cancelled: a confirmation is refused; an input has no value (null); of a credential the tool that needs it
 * gets an error as its result, and a node of a workflow asks again.
 */
export function responseTo(question: Question, answer: Answer, events: readonly Event[]): Part {
  switch (question.kind) {
    case 'confirmation':
      return respond(question, confirmation(answer))
    case 'input':
      return respond(question, input(question, answer))
    case 'credential':
      return credential(question, answer, events)
  }
}

function respond({ functionCallId, functionCallName }: Question, response: Record<string, unknown>): Part {
  return { functionResponse: { id: functionCallId, name: functionCallName, response } }
}

/** Whatever is not a clear yes is a no. */
function confirmation(answer: Answer): Record<string, unknown> {
  if (answer.status === 'cancelled') return { confirmed: false }
  const { payload } = answer
  if (!isRecord(payload)) return { confirmed: payload === true }
  const confirmed = (payload.confirmed ?? payload.approved) === true
  return { confirmed, ...(payload.payload === undefined ? {} : { payload: payload.payload }) }
}

function input({ interrupt }: Question, answer: Answer): Record<string, unknown> {
  return answer.status === 'cancelled' ? { result: null } : wrapped(answer.payload, interrupt.responseSchema)
}

function credential(question: Question, answer: Answer, events: readonly Event[]): Part {
  const { functionCallId, interrupt } = question
  const request = callIn(events, functionCallId)
  const authConfig = field(request?.args, 'authConfig')
  const authScheme = field(authConfig, 'authScheme')
  const credentialKey = field(authConfig, 'credentialKey')
  if (!isRecord(authScheme) || typeof credentialKey !== 'string') throw lostRequest(question)
  if (answer.status === 'resolved') {
    const exchangedAuthCredential = credentialFrom(answer.payload, authConfig)
    if (!exchangedAuthCredential) throw useless(question)
    return respond(question, { authScheme, credentialKey, exchangedAuthCredential })
  }
  const { toolCallId: id } = interrupt
  const name = id === undefined ? undefined : callIn(events, id)?.name
  if (id === undefined || name === undefined) return respond(question, { authScheme, credentialKey })
  // In the place of what the tool gave when it asked: otherwise the model would not learn of it.
  const error = 'The user did not provide the credentials that this tool needs.'
  return { functionResponse: { id, name, response: { error } } }
}

function callIn(events: readonly Event[], id: string): FunctionCall | undefined {
  const parts = events.flatMap(({ content }) => content?.parts ?? [])
  return parts.findLast(({ functionCall }) => functionCall?.id === id)?.functionCall
}

function lostRequest({ functionCallId }: Question): MillraceError {
  const message = 'The session does not have the request for credentials that the answer is for.'
  return new MillraceError('INVALID_RESUME', message, { details: { functionCallId } })
}

function useless({ interrupt }: Question): MillraceError {
  const message = `The answer to '${interrupt.id}' has none of the credentials that were asked for.`
  return new MillraceError('INVALID_RESUME', message, { details: { interruptId: interrupt.id } })
}

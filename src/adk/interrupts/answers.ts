import type { Event } from '@google/adk'
import type { Answer } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { FunctionCall, Part } from '../adk-types.js'
import { adkField, wrapAnswer } from './request-calls.js'
import type { AdkInterrupt } from './to-interrupts.js'

/**
 * The answer to an interrupt in ADK's form. `events` are those of the session, with the request among them: an answer
 * with credentials is bound to its request here, on the server. Throws INVALID_RESUME for an unusable answer.
 *
 * A cancelled confirmation is a refusal; a cancelled input has no value (null). When a credential is cancelled, the tool
 * that needs it gets an error as its result, and a workflow node makes its request again.
 */
export function toResponsePart(interrupt: AdkInterrupt, answer: Answer, events: readonly Event[]): Part {
  switch (interrupt.kind) {
    case 'confirmation':
      return respond(interrupt, confirmationResponse(answer))
    case 'input':
      return respond(interrupt, inputResponse(interrupt, answer))
    case 'credential':
      return credentialPart(interrupt, answer, events)
  }
}

function respond(
  { functionCallId, functionCallName }: AdkInterrupt,
  response: Record<string, unknown>,
): Part {
  return { functionResponse: { id: functionCallId, name: functionCallName, response } }
}

/** Anything but a clear yes is a no: `true`, `approved`, or ADK's own `confirmed`. */
function confirmationResponse(answer: Answer): Record<string, unknown> {
  if (answer.status === 'cancelled') return { confirmed: false }
  const { payload } = answer
  if (!isRecord(payload)) return { confirmed: payload === true }
  const given = [payload.approved, payload.confirmed].filter((value) => value !== undefined)
  const confirmed = given.length > 0 && given.every((value) => value === true)
  return { confirmed, ...(payload.payload === undefined ? {} : { payload: payload.payload }) }
}

function inputResponse({ interrupt }: AdkInterrupt, answer: Answer): Record<string, unknown> {
  if (answer.status === 'cancelled') return { result: null }
  return wrapAnswer(answer.payload, interrupt.responseSchema)
}

function credentialPart(interrupt: AdkInterrupt, answer: Answer, events: readonly Event[]): Part {
  const request = findCall(events, interrupt.functionCallId)
  const authConfig = adkField(request?.args, 'authConfig')
  const authScheme = adkField(authConfig, 'authScheme')
  const credentialKey = adkField(authConfig, 'credentialKey')
  if (!isRecord(authScheme) || typeof credentialKey !== 'string') throw requestNotFound(interrupt)
  if (answer.status === 'resolved') {
    const exchangedAuthCredential = toAuthCredential(answer.payload, authScheme)
    if (!exchangedAuthCredential) throw noCredential(interrupt)
    return respond(interrupt, { authScheme, credentialKey, exchangedAuthCredential })
  }
  const { toolCallId: id } = interrupt.interrupt
  const name = id === undefined ? undefined : findCall(events, id)?.name
  if (id === undefined || name === undefined) return respond(interrupt, { authScheme, credentialKey })
  // Replaces the result of the tool's request: otherwise the model would not see the error.
  const error = 'The user did not provide the credentials that this tool needs.'
  return { functionResponse: { id, name, response: { error } } }
}

function findCall(events: readonly Event[], id: string): FunctionCall | undefined {
  const parts = events.flatMap(({ content }) => content?.parts ?? [])
  return parts.findLast(({ functionCall }) => functionCall?.id === id)?.functionCall
}

function requestNotFound({ functionCallId }: AdkInterrupt): MillraceError {
  const message = 'The session does not have the request for credentials that the answer is for.'
  return new MillraceError('INVALID_RESUME', message, { details: { functionCallId } })
}

function noCredential({ interrupt: { id } }: AdkInterrupt): MillraceError {
  const message = `The answer to '${id}' has none of the credentials that were asked for.`
  return new MillraceError('INVALID_RESUME', message, { details: { interruptId: id } })
}

type AuthCredential = Record<string, unknown>

/**
 * A person's answer as a credential of ADK. Takes only what the scheme needs: an answer cannot pass a client secret or a
 * token where a sign-in is wanted. Undefined for an unusable answer.
 */
function toAuthCredential(payload: unknown, authScheme: unknown): AuthCredential | undefined {
  const authType = adkField(authScheme, 'type')
  switch (authType) {
    case 'apiKey':
      return apiKeyCredential(payload)
    case 'http':
      return httpCredential(payload, authScheme)
    case 'oauth2':
    case 'openIdConnect':
      return signInCredential(payload, authType)
    default:
      return isRecord(payload) ? payload : undefined
  }
}

function apiKeyCredential(payload: unknown): AuthCredential | undefined {
  const key = typeof payload === 'string' ? payload : adkField(payload, 'apiKey')
  return typeof key === 'string' && key !== '' ? { authType: 'apiKey', apiKey: key } : undefined
}

function httpCredential(payload: unknown, authScheme: unknown): AuthCredential | undefined {
  const fields = typeof payload === 'string' ? { token: payload } : payload
  const credentials = textFields(fields, ['username', 'password', 'token'])
  if (Object.keys(credentials).length === 0) return undefined
  return { authType: 'http', http: { scheme: adkField(authScheme, 'scheme') ?? 'bearer', credentials } }
}

function signInCredential(payload: unknown, authType: string): AuthCredential | undefined {
  const fields =
    typeof payload === 'string'
      ? { [URL.canParse(payload) ? 'authResponseUri' : 'authCode']: payload }
      : payload
  const oauth2 = textFields(fields, ['authResponseUri', 'authCode'])
  return Object.keys(oauth2).length === 0 ? undefined : { authType, oauth2 }
}

function textFields(value: unknown, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name): [string, string][] => {
    const member = adkField(value, name)
    return typeof member === 'string' && member !== '' ? [[name, member]] : []
  })
  return Object.fromEntries(found)
}

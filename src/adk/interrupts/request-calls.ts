import type { Event } from '@google/adk'
import { isRecord, parseJson } from '../../core/json.js'
import type { Part } from '../adk-types.js'

/** ADK's requests to a person are function calls with these names. Spelled out here so that pure code needs no ADK. */
export const requestNames = {
  confirmation: 'adk_request_confirmation',
  input: 'adk_request_input',
  credential: 'adk_request_credential',
} as const

/** Whether a function call is a request to a person, or a function response the answer to one. */
export function isRequestCall(call: { readonly name?: string | undefined } | undefined): boolean {
  return call?.name?.startsWith('adk_request_') ?? false
}

/** Whether a part is a request to a person, or the answer to one. */
export function isRequestPart({ functionCall, functionResponse }: Part): boolean {
  return isRequestCall(functionCall ?? functionResponse)
}

/** The calls that wait for a person since an event. */
export function callsWaitingForPerson({ actions }: Partial<Pick<Event, 'actions'>>): string[] {
  // Loaded events come from JSON: members without a value may be missing.
  const { requestedAuthConfigs, requestedToolConfirmations }: Partial<Event['actions']> = actions ?? {}
  return Object.keys({ ...requestedAuthConfigs, ...requestedToolConfirmations })
}

/** Whether the result of a call in an event only says that its tool waits for a person. */
export function isWaitingForPerson(callId: string, event: Partial<Pick<Event, 'actions'>>): boolean {
  return callsWaitingForPerson(event).includes(callId)
}

/** A member by its name, in camel case or snake case: ADK writes both. */
export function adkField(value: unknown, name: string): unknown {
  if (!isRecord(value)) return undefined
  return value[name] ?? value[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

/**
 * An answer as a function response carries it: an object as it is, any other value as `{ result }`. Without a schema ADK
 * parses a text as JSON; a text that is JSON is quoted, so that it stays a text.
 */
export function wrapAnswer(value: unknown, schema?: unknown): Record<string, unknown> {
  if (isRecord(value) && !isResultWrapper(value)) return value
  if (typeof value !== 'string' || schema !== undefined) return { result: value }
  return { result: parseJson(value) === undefined ? value : JSON.stringify(value) }
}

/** Undoes `wrapAnswer`. */
export function unwrapAnswer(response: unknown): unknown {
  if (!isResultWrapper(response)) return response
  const { result } = response
  const value = typeof result === 'string' ? parseJson(result) : undefined
  return value === undefined ? result : value
}

function isResultWrapper(value: unknown): value is { readonly result: unknown } {
  return isRecord(value) && 'result' in value && Object.keys(value).length === 1
}

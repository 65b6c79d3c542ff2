import { isRecord } from '../../core/is-record.js'
import { field } from './redact.js'

type Credential = Record<string, unknown>

/**
 * A person's answer as a credential of ADK. Takes only what was asked for: who answers cannot bring a client secret or
 * a token in the place of a sign-in. Undefined when nothing of use is in it.
 */
export function credentialFrom(payload: unknown, authConfig: unknown): Credential | undefined {
  const scheme = field(authConfig, 'authScheme')
  const authType = field(scheme, 'type')
  switch (authType) {
    case 'apiKey':
      return apiKey(payload)
    case 'http':
      return http(payload, scheme)
    case 'oauth2':
    case 'openIdConnect':
      return signIn(payload, authType)
    default:
      return isRecord(payload) ? payload : undefined
  }
}

function apiKey(payload: unknown): Credential | undefined {
  const key = typeof payload === 'string' ? payload : field(payload, 'apiKey')
  return typeof key === 'string' && key !== '' ? { authType: 'apiKey', apiKey: key } : undefined
}

function http(payload: unknown, authScheme: unknown): Credential | undefined {
  const given = typeof payload === 'string' ? { token: payload } : payload
  const credentials = texts(given, ['username', 'password', 'token'])
  if (Object.keys(credentials).length === 0) return undefined
  return { authType: 'http', http: { scheme: field(authScheme, 'scheme') ?? 'bearer', credentials } }
}

function signIn(payload: unknown, authType: string): Credential | undefined {
  const given =
    typeof payload === 'string'
      ? { [URL.canParse(payload) ? 'authResponseUri' : 'authCode']: payload }
      : payload
  const oauth2 = texts(given, ['authResponseUri', 'authCode'])
  return Object.keys(oauth2).length === 0 ? undefined : { authType, oauth2 }
}

function texts(value: unknown, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name): [string, string][] => {
    const member = field(value, name)
    return typeof member === 'string' && member !== '' ? [[name, member]] : []
  })
  return Object.fromEntries(found)
}

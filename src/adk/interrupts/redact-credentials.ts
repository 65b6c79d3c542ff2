import { isRecord } from '../../core/json.js'
import { adkField } from './request-calls.js'

/** The part of a credential request that a client may see. Nothing else of the configuration leaves the server. */
export interface CredentialRequest {
  /** `apiKey`, `http`, `oauth2` or `openIdConnect`; `other` for unknown ones. */
  readonly type: string
  /** Of an API key: its name, and where it is sent. */
  readonly name?: string
  readonly in?: string
  /** Of HTTP: `bearer` or `basic`, for example. */
  readonly scheme?: string
  /** Of OAuth: the page to open. It leads back to `redirectUri`. */
  readonly authorizationUri?: string
  readonly redirectUri?: string
  readonly scopes?: readonly string[]
}

const types: readonly unknown[] = ['apiKey', 'http', 'oauth2', 'openIdConnect']

/** Copies the public members of an auth configuration, and only those with the right type. */
export function publicCredentialRequest(authConfig: unknown): CredentialRequest {
  const scheme = adkField(authConfig, 'authScheme')
  const type = adkField(scheme, 'type')
  if (!types.includes(type)) return { type: 'other' }
  switch (type) {
    case 'apiKey':
      return {
        type,
        ...textMember('name', adkField(scheme, 'name')),
        ...textMember('in', adkField(scheme, 'in')),
      }
    case 'http':
      return { type, ...textMember('scheme', adkField(scheme, 'scheme')) }
    default:
      return { type: String(type), ...oauthRequest(authConfig, scheme) }
  }
}

function oauthRequest(authConfig: unknown, scheme: unknown): Partial<CredentialRequest> {
  const exchanged = adkField(adkField(authConfig, 'exchangedAuthCredential'), 'oauth2')
  const raw = adkField(adkField(authConfig, 'rawAuthCredential'), 'oauth2')
  const scopes = scopesOf(scheme)
  return {
    ...textMember('authorizationUri', publicUri(adkField(exchanged, 'authUri') ?? adkField(raw, 'authUri'))),
    ...textMember(
      'redirectUri',
      publicUri(adkField(exchanged, 'redirectUri') ?? adkField(raw, 'redirectUri')),
    ),
    ...(scopes.length === 0 ? {} : { scopes }),
  }
}

/** Removed from a page's address, whoever put them there. */
const secretParameters = [
  'client_secret',
  'code_verifier',
  'access_token',
  'refresh_token',
  'id_token',
  'password',
]

function publicUri(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const url = new URL(value)
  const isUntouched =
    url.username === '' && url.password === '' && !secretParameters.some((key) => url.searchParams.has(key))
  if (isUntouched) return value
  url.username = ''
  url.password = ''
  for (const key of secretParameters) url.searchParams.delete(key)
  return url.href
}

function scopesOf(scheme: unknown): readonly string[] {
  const listed = adkField(scheme, 'scopes')
  if (Array.isArray(listed)) return listed.filter((scope) => typeof scope === 'string')
  const flows = adkField(scheme, 'flows')
  if (!isRecord(flows)) return []
  const named = Object.values(flows).flatMap((flow) => {
    const scopes = adkField(flow, 'scopes')
    return isRecord(scopes) ? Object.keys(scopes) : []
  })
  return [...new Set(named)]
}

function textMember(key: string, value: unknown): Record<string, string> {
  return typeof value === 'string' ? { [key]: value } : {}
}

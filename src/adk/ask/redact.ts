import { isRecord } from '../../core/is-record.js'

/** What a client learns of a credential that is asked for. Nothing else of the configuration leaves the server. */
export interface CredentialRequest {
  /** `apiKey`, `http`, `oauth2` or `openIdConnect`; `other` for what is not known. */
  readonly type: string
  /** Of an API key: what it is called, and where it is sent. */
  readonly name?: string
  readonly in?: string
  /** Of HTTP: `bearer` or `basic`, for example. */
  readonly scheme?: string
  /** Of OAuth: the page to open. It comes back to `redirectUri`. */
  readonly authorizationUri?: string
  readonly redirectUri?: string
  readonly scopes?: readonly string[]
}

const types: readonly unknown[] = ['apiKey', 'http', 'oauth2', 'openIdConnect']

/** Takes from an auth configuration what may be shown, and that only if it is what it should be. */
export function credentialRequest(authConfig: unknown): CredentialRequest {
  const scheme = field(authConfig, 'authScheme')
  const type = field(scheme, 'type')
  if (!types.includes(type)) return { type: 'other' }
  switch (type) {
    case 'apiKey':
      return { type, ...text('name', field(scheme, 'name')), ...text('in', field(scheme, 'in')) }
    case 'http':
      return { type, ...text('scheme', field(scheme, 'scheme')) }
    default:
      return { type: String(type), ...oauthRequest(authConfig, scheme) }
  }
}

function oauthRequest(authConfig: unknown, scheme: unknown): Partial<CredentialRequest> {
  const exchanged = field(field(authConfig, 'exchangedAuthCredential'), 'oauth2')
  const raw = field(field(authConfig, 'rawAuthCredential'), 'oauth2')
  const scopes = scopesOf(scheme)
  return {
    ...text('authorizationUri', publicUri(field(exchanged, 'authUri') ?? field(raw, 'authUri'))),
    ...text('redirectUri', publicUri(field(exchanged, 'redirectUri') ?? field(raw, 'redirectUri'))),
    ...(scopes.length === 0 ? {} : { scopes }),
  }
}

/** What never belongs into the address of a page, whoever put it there. */
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
  const listed = field(scheme, 'scopes')
  if (Array.isArray(listed)) return listed.filter((scope) => typeof scope === 'string')
  const flows = field(scheme, 'flows')
  if (!isRecord(flows)) return []
  const named = Object.values(flows).flatMap((flow) => Object.keys(record(field(flow, 'scopes'))))
  return [...new Set(named)]
}

function text(key: string, value: unknown): Record<string, string> {
  return typeof value === 'string' ? { [key]: value } : {}
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** A member under its name, or under the one it has in snake case: ADK writes both. */
export function field(value: unknown, name: string): unknown {
  if (!isRecord(value)) return undefined
  return value[name] ?? value[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

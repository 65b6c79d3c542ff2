import { createClient, type Client } from 'millrace/client'
import { asUser, asUserHeader } from './as-user.js'
import type { Session } from './contract.js'

const tokenKey = 'millrace.token'

/** The server that the page came from. */
export interface Api {
  readonly session: Session
  /** The address of the server, without a slash at its end. */
  readonly url: string
  readonly client: Client
  /** Reads JSON from the console's own routes. Rejects with an `ApiError`. */
  get<T>(path: string, signal?: AbortSignal): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
  /** The items of a stream of the console's own routes, until it ends or breaks. */
  follow<T>(path: string, signal: AbortSignal): AsyncGenerator<T>
  /** A request to any route of the server, with the caller's token. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

export class ApiError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The console's folder: `/console/` under whatever the server is mounted on. */
const pageUrl = new URL('.', location.href)

export function rememberToken(token: string): void {
  if (token === '') sessionStorage.removeItem(tokenKey)
  else sessionStorage.setItem(tokenKey, token)
}

/** Asks the server who the caller is. Rejects with the status 401 when it wants a token. */
export async function openApi(): Promise<Api> {
  // Who the caller is, whoever's data they look at.
  const session = await request<Session>('api/session', {}, authorization())
  const url = new URL(session.root, pageUrl).href.replace(/\/$/, '')
  return {
    session,
    url,
    client: createClient({ url, headers: callerHeaders }),
    get: (path, signal) => request(`api/${path}`, signal ? { signal } : {}),
    post: (path, body) =>
      request(`api/${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { 'content-type': 'application/json' },
      }),
    follow: (path, signal) => readItems(`api/${path}`, signal),
    fetch: (path, init = {}) => send(url + path, init),
  }
}

/** Who asks, and as whom. */
function callerHeaders(): Readonly<Record<string, string>> {
  return { ...authorization(), ...asUserHeader(asUser.get()) }
}

function authorization(): Readonly<Record<string, string>> {
  const token = sessionStorage.getItem(tokenKey)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

function send(url: string | URL, init: RequestInit, headers = callerHeaders()): Promise<Response> {
  return fetch(url, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } })
}

async function request<T>(path: string, init: RequestInit = {}, headers = callerHeaders()): Promise<T> {
  const response = await send(new URL(path, pageUrl), init, headers)
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as T
  throw failure(response.status, body)
}

function failure(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { readonly error?: { readonly code: string; readonly message: string } }
  return new ApiError(status, error?.message ?? `The server answered ${status}.`)
}

/** Reads the items of a stream of the console's routes until it ends. One line of SSE is one item. */
async function* readItems<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  const response = await send(new URL(path, pageUrl), { signal })
  if (!response.ok || !response.body)
    throw failure(response.status, await response.json().catch(() => undefined))
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + part.value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as T
  }
}

import { createClient, type Client } from 'millrace/client'
import type { Session } from './contract.js'

const tokenKey = 'millrace.token'

/** The server that the page came from. */
export interface Api {
  readonly session: Session
  readonly client: Client
  /** Reads JSON from the console's own routes. Rejects with an `ApiError`. */
  get<T>(path: string, signal?: AbortSignal): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
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
  const session = await request<Session>('api/session')
  const url = new URL(session.basePath, location.origin).href.replace(/\/$/, '')
  return {
    session,
    client: createClient({ url, headers: authorization }),
    get: (path, signal) => request(`api/${path}`, signal ? { signal } : {}),
    post: (path, body) =>
      request(`api/${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { 'content-type': 'application/json' },
      }),
    fetch: (path, init = {}) => send(url + path, init),
  }
}

export function authorization(): Readonly<Record<string, string>> {
  const token = sessionStorage.getItem(tokenKey)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

function send(url: string | URL, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, headers: { ...authorization(), ...(init.headers as Record<string, string>) } })
}

async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await send(new URL(path, pageUrl), init)
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body as T
  const { error } = (body ?? {}) as { readonly error?: { readonly code: string; readonly message: string } }
  throw new ApiError(response.status, error?.message ?? `The server answered ${response.status}.`)
}

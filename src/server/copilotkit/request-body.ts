import type { UserRequest } from '../routes/route.js'

/** The request with another body. */
export function withBody<T extends UserRequest>(given: T, body: unknown): T {
  const { request } = given
  const headers = new Headers(request.headers)
  for (const name of ['content-length', 'transfer-encoding']) headers.delete(name)
  headers.set('content-type', 'application/json')
  const { url, signal } = request
  return {
    ...given,
    request: new Request(url, { method: 'POST', headers, body: JSON.stringify(body), signal }),
  }
}

import { toWireError } from '../../core/errors.js'
import { json, type RouteContext } from './route.js'

/** `GET /healthz`: the process answers. */
export function health(): Response {
  return json({ status: 'ok' })
}

/** `GET /readyz`: it takes runs, and its store works. */
export async function readiness(server: RouteContext): Promise<Response> {
  if (server.isClosing()) return Response.json({ status: 'closing' }, { status: 503 })
  try {
    await server.store.check()
    return json({ status: 'ready' })
  } catch (error) {
    server.log.error({ err: error }, 'the store cannot be used')
    return Response.json({ status: 'failing', error: toWireError(error, 'STORE_ERROR') }, { status: 503 })
  }
}

/** `GET /metrics`: counts and times, as Prometheus reads them. */
export function metrics(server: RouteContext): Response {
  return new Response(server.metrics.render(), {
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  })
}

import { toWireError } from '../../core/errors.js'
import type { ServerContext } from '../context.js'
import { metricsContentType } from '../observe/metrics.js'
import { jsonResponse } from './route.js'

/** `GET /healthz`: the process answers. */
export function health(): Response {
  return jsonResponse({ status: 'ok' })
}

/** `GET /readyz`: the server takes runs, and its store works. */
export async function readiness({ isClosing, store, log }: ServerContext): Promise<Response> {
  if (isClosing()) return Response.json({ status: 'closing' }, { status: 503 })
  try {
    await store.check()
    return jsonResponse({ status: 'ready' })
  } catch (error) {
    log.error({ err: error }, 'the store cannot be used')
    return Response.json({ status: 'failing', error: toWireError(error, 'STORE_ERROR') }, { status: 503 })
  }
}

/** `GET /metrics`: counts and times in the text format of Prometheus. */
export function metrics(server: ServerContext): Response {
  return new Response(server.metrics.render(), { headers: { 'content-type': metricsContentType } })
}

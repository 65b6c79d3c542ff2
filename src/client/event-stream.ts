import { decodeSse, type AgUiEvent } from '../protocol/index.js'
import { networkError, RequestFailure, toClientError, type Http, type HttpRequest } from './http.js'
import { readChunks } from './read-chunks.js'
import type { StreamedEvent } from './thread-view.js'

/**
 * Posts, and yields the events of the answer. Throws a `RequestFailure` when the request is refused, when the connection
 * breaks, and when nothing comes for too long; the reason of the signal when it aborts.
 */
export async function* openEventStream(
  http: Http,
  request: HttpRequest & { readonly signal: AbortSignal; readonly onOpen: () => void },
): AsyncGenerator<StreamedEvent> {
  const headers = { accept: 'text/event-stream', ...request.headers }
  const response = await http.send({ ...request, headers })
  request.onOpen()
  const chunks = readChunks(response, http, request.signal)
  for await (const frame of decodeSse(chunks)) {
    // The last frame of a stream that broke off may be cut. It comes again.
    if (frame.kind === 'event') yield { id: frame.id, event: frame.event as AgUiEvent }
  }
}

/** Whether an error ends the stream, not a run: what belongs to a run has an id. */
export function isBrokenStream({ id, event }: StreamedEvent): boolean {
  return event.type === 'RUN_ERROR' && id === undefined
}

export function brokenStream({ event }: StreamedEvent): RequestFailure {
  const { code = '', message } = event as { readonly code?: string; readonly message: string }
  return new RequestFailure(toClientError({ code, message }))
}

/** A stream has ended before the run, or the wish to follow, has. */
export function streamEnded(): RequestFailure {
  return new RequestFailure(networkError(new Error('The stream has ended.')))
}

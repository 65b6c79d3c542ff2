import { decodeSse, type AgUiEvent } from '../protocol/index.js'
import { networkError, RequestFailure, toClientError, type Http, type HttpRequest } from './http.js'
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

/** The bytes of a response. Not its own iterator: some browsers have none. */
async function* readChunks(response: Response, http: Http, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  const watch = watchSilence(http, () => void reader.cancel().catch(() => undefined))
  const stop = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as ReadResult
      signal.throwIfAborted()
      if (watch.isSilent) throw new RequestFailure(networkError(new Error('The server has fallen silent.')))
      if (done) return
      watch.heard()
      if (value) yield value
    }
  } catch (cause) {
    signal.throwIfAborted()
    throw cause instanceof RequestFailure ? cause : new RequestFailure(networkError(cause))
  } finally {
    watch.end()
    signal.removeEventListener('abort', stop)
    stop()
  }
}

interface ReadResult {
  readonly done: boolean
  readonly value?: Uint8Array
}

/** Calls back when nothing was heard for the time limit. One timer, whatever comes meanwhile. */
function watchSilence({ clock, timeoutMs }: Http, onSilence: () => void) {
  let heardAt = clock.now()
  let isSilent = false
  const look = (): void => {
    const left = heardAt + timeoutMs - clock.now()
    if (left > 0) cancel = clock.schedule(left, look)
    else {
      isSilent = true
      onSilence()
    }
  }
  let cancel = clock.schedule(timeoutMs, look)
  return {
    get isSilent() {
      return isSilent
    },
    heard(): void {
      heardAt = clock.now()
    },
    end: () => cancel(),
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

import { networkError, RequestFailure, type Http } from './http.js'

/**
 * The bytes of a response. Throws a `RequestFailure` when the connection breaks, and when it is open but nothing comes for
 * `timeoutMs`: a live server sends heartbeats. Not the iterator of the body: some browsers have none.
 */
export async function* readChunks(
  { body }: Response,
  limits: Pick<Http, 'clock' | 'timeoutMs'>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (!reader) return
  const stop = (): void => void reader.cancel().catch(() => undefined)
  const silence = watchSilence(limits, stop)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    for (;;) {
      silence.begin()
      const { done, value } = (await reader.read()) as ReadResult
      signal.throwIfAborted()
      if (silence.isTooLong)
        throw new RequestFailure(networkError(new Error('The server has fallen silent.')))
      if (done) return
      silence.end()
      if (value) yield value
    }
  } catch (cause) {
    signal.throwIfAborted()
    throw cause instanceof RequestFailure ? cause : new RequestFailure(networkError(cause))
  } finally {
    silence.stop()
    signal.removeEventListener('abort', stop)
    stop()
  }
}

interface ReadResult {
  readonly done: boolean
  readonly value?: Uint8Array
}

/** Calls back when a silence has lasted too long. One timer, however many begin. A slow reader is not a silence. */
function watchSilence({ clock, timeoutMs }: Pick<Http, 'clock' | 'timeoutMs'>, onTooLong: () => void) {
  let since: number | undefined
  let isTooLong = false
  const look = (): void => {
    const left = since === undefined ? timeoutMs : since + timeoutMs - clock.now()
    if (left > 0) cancel = clock.schedule(left, look)
    else {
      isTooLong = true
      onTooLong()
    }
  }
  let cancel = clock.schedule(timeoutMs, look)
  return {
    get isTooLong() {
      return isTooLong
    },
    begin: () => void (since = clock.now()),
    end: () => void (since = undefined),
    stop: () => cancel(),
  }
}

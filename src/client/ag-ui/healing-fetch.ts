import { systemClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { createBackoff, type Backoff } from '../retry.js'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

interface Request {
  readonly url: string
  readonly init: RequestInit
}

/** Where the rest of a stream can be had, and how it is asked for. */
interface Rest {
  readonly url: string
  readonly body: object
}

const isTerminal = /^data: ?\{"type":"RUN_(FINISHED|ERROR)"/m

/**
 * Fetches an event stream that goes on when its connection breaks: the body has all frames, each once and whole, from as many
 * connections as it takes. Refusals of the first request are passed on as they are.
 */
export async function healingFetch(fetch: Fetch, { url, init }: Request, rest: Rest): Promise<Response> {
  const first = await fetch(url, init)
  if (!first.ok || !first.body) return first
  const frames = wholeFrames({ fetch, init, rest, backoff: createBackoff(systemClock, { url }) }, first)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await frames.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        controller.error(error)
      }
    },
    cancel: () => void frames.return(undefined),
  })
  return new Response(body, { status: first.status, headers: first.headers })
}

interface Healing {
  readonly fetch: Fetch
  readonly init: RequestInit
  readonly rest: Rest
  readonly backoff: Backoff
}

/** The frames of the stream, until the run has ended. */
async function* wholeFrames(healing: Healing, first: Response): AsyncGenerator<string, undefined> {
  const signal = healing.init.signal ?? new AbortController().signal
  let lastId: string | undefined
  let response: Response | undefined = first
  for (;;) {
    try {
      for await (const frame of framesOf(response)) {
        // The server shows the thread as it is now: another run has taken the place of this one.
        if (response !== first && lastId !== undefined && frame.includes('data: {"type":"RUN_STARTED"')) {
          yield lostRun
          return undefined
        }
        lastId = /^id: ?(.*)$/m.exec(frame)?.[1] ?? lastId
        healing.backoff.reset()
        yield frame
        if (isTerminal.test(frame)) return undefined
      }
    } catch {
      // The connection broke. The rest comes over another one.
    }
    response = await askForRest(healing, lastId, signal)
  }
}

const lostRun = `data: ${JSON.stringify({
  type: 'RUN_ERROR',
  code: 'RUN_LOST',
  message: 'The rest of the run is no longer to be had. Connect to the thread.',
})}\n\n`

/** Asks until the server answers. Throws when it refuses, and the reason of the signal when it aborts. */
async function askForRest(
  { fetch, init, rest, backoff }: Healing,
  lastId: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  for (;;) {
    await backoff.wait(signal)
    signal.throwIfAborted()
    const headers = {
      ...(init.headers as Record<string, string>),
      ...(lastId ? { 'last-event-id': lastId } : {}),
    }
    const response = await fetch(rest.url, { ...init, headers, body: JSON.stringify(rest.body) }).catch(
      () => undefined,
    )
    signal.throwIfAborted()
    if (response?.ok === true) return response
    if (response && response.status < 500 && response.status !== 429)
      throw new MillraceError(
        'RUN_NOT_FOUND',
        `The stream broke, and its rest was refused (${response.status}).`,
      )
  }
}

/** The frames of a response with their blank lines. A frame that was cut off is left out: it comes again. */
async function* framesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = (await reader.read()) as { readonly done: boolean; readonly value?: Uint8Array }
      if (done) return
      text += decoder.decode(value, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) yield `${frame}\n\n`
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

import { systemClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { ClientOptions } from '../contract.js'
import { defaultTimeoutMs, RequestFailure, withTimeout, type Http } from '../http.js'
import { readChunks } from '../read-chunks.js'
import { createBackoff, type Backoff } from '../retry.js'

/** How a stream heals: the same options as those of a client. */
export type HealingOptions = Pick<ClientOptions, 'timeoutMs' | 'retry' | 'clock' | 'random'>

type Fetch = (url: string, init: RequestInit) => Promise<Response>

interface Request {
  readonly url: string
  readonly init: RequestInit
}

/** Where the rest of a stream can be had, how it is asked for, and when. */
interface Rest {
  readonly url: string
  readonly body: object
  readonly options: HealingOptions
}

const isTerminal = /^data: ?\{"type":"RUN_(FINISHED|ERROR)"/m

/**
 * Fetches an event stream that goes on when its connection breaks, or is open but dead: the body has all frames, each once and whole, from as many
 * connections as it takes. Refusals of the first request are passed on as they are.
 */
export async function healingFetch(fetch: Fetch, { url, init }: Request, rest: Rest): Promise<Response> {
  const { clock = systemClock, timeoutMs = defaultTimeoutMs } = rest.options
  const limits = { clock, timeoutMs }
  const limitedFetch: Fetch = (address, given) => withTimeout(limits, given, (init) => fetch(address, init))
  const first = await limitedFetch(url, init).catch((error: unknown) => {
    throw error instanceof RequestFailure ? error.error : error
  })
  if (!first.ok || !first.body) return first
  const backoff = createBackoff(clock, { url, ...rest.options })
  const frames = wholeFrames({ fetch: limitedFetch, init, rest, backoff, limits }, first)
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
  readonly limits: Pick<Http, 'clock' | 'timeoutMs'>
}

/** The frames of the stream, until the run has ended. */
async function* wholeFrames(healing: Healing, first: Response): AsyncGenerator<string, undefined> {
  const signal = healing.init.signal ?? new AbortController().signal
  let lastId: string | undefined
  let hasStarted = false
  let isOver = false
  let response: Response | undefined = first
  for (;;) {
    try {
      for await (const frame of framesOf(readChunks(response, healing.limits, signal))) {
        const isStart = frame.includes('data: {"type":"RUN_STARTED"')
        // The server shows the thread as it is now: another run has taken the place of this one.
        if (isStart && response !== first && lastId !== undefined) {
          yield lostRun
          return undefined
        }
        lastId = /^id: ?(.*)$/m.exec(frame)?.[1] ?? lastId
        healing.backoff.reset()
        // A stream that broke before its first id is shown from the start, which clients take once.
        if (!isStart || !hasStarted) yield frame
        hasStarted ||= isStart
        // Read on to the end: browsers show a request that is left before as one that has failed.
        isOver ||= isTerminal.test(frame)
      }
    } catch {
      // The connection broke, or fell silent. The rest comes over another one.
    }
    if (isOver) return undefined
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

/** The frames of a stream with their blank lines. A frame that was cut off is left out: it comes again. */
async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += decoder.decode(chunk, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) yield `${frame}\n\n`
  }
}

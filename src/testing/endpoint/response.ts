import { AGUI_MEDIA_TYPE } from '@ag-ui/proto'
import { linkAbort, untilAborted } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import { isRecord } from '../../core/json.js'
import { describeBriefly, describeError } from '../describe.js'
import type { LintRule } from '../rules/rule-names.js'
import type { FrameReader } from './frames.js'

type Report = (rule: LintRule, message: string) => void

/** Checks status and headers. Returns the body when a client would read it as an event stream. */
export async function checkHead(
  response: Response,
  report: Report,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { status, headers, body, ok } = response
  if (!ok) {
    const text = await response.text().catch(describeError)
    report('http-status', `HTTP ${status}: ${describeBriefly(text)}`)
    return undefined
  }
  if (body === null) {
    report('empty-body', `HTTP ${status} without a body`)
    return undefined
  }
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') report('content-encoding', `the stream is compressed with ${encoding}`)
  return isEventStream(headers.get('content-type') ?? '', report) ? body : undefined
}

function isEventStream(contentType: string, report: Report): boolean {
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (mediaType === 'text/event-stream') return true
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) {
    report(
      'content-type',
      `the body is JSON (${contentType}): clients see a run that succeeds without events`,
    )
    return false
  }
  report('content-type', `the content type is '${contentType}', not text/event-stream`)
  // Clients read all but the binary format as an event stream.
  return mediaType !== AGUI_MEDIA_TYPE
}

interface ReadBodyOptions {
  readonly clock: Clock
  readonly frames: FrameReader
  /** Ends the reading when it aborts. Aborted here when the body stays open after the terminal event. */
  readonly stop: AbortController
  readonly closeWithinMs: number
}

/** Feeds a body to the frame reader until the server closes it. Rejects when it breaks off, and on `stop`. */
export async function readEventBody(
  body: ReadableStream<Uint8Array>,
  options: ReadBodyOptions,
): Promise<void> {
  const { clock, frames, stop, closeWithinMs } = options
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let closing: (() => void) | undefined
  const expectClose = (): void => {
    closing ??= clock.schedule(closeWithinMs, () => {
      stop.abort(
        new ExchangeStop(
          'stream-not-closed',
          `the body is open ${closeWithinMs} ms after the terminal event`,
        ),
      )
    })
  }
  const expectMore = (): void => {
    closing?.()
    closing = undefined
  }
  try {
    while (frames.isReadable) {
      const { done, value } = await untilAborted(reader.read().catch(connectionLost), stop.signal)
      if (done) break
      frames.feed(decoder.decode(value, { stream: true }))
      if (endsRun(frames.events.at(-1))) expectClose()
      else expectMore()
    }
    frames.feed(decoder.decode())
    frames.end()
  } finally {
    expectMore()
    // Drop the rest of the body. Cancelling a broken one fails, which does not matter.
    reader.cancel().catch(() => undefined)
  }
}

function connectionLost(error: unknown): never {
  throw new ExchangeStop('connection-lost', `the body breaks off: ${describeError(error)}`)
}

function endsRun(event: unknown): boolean {
  return isRecord(event) && (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR')
}

/** Ends an exchange early, with the rule that was broken. */
export class ExchangeStop extends Error {
  readonly rule: LintRule

  constructor(rule: LintRule, message: string) {
    super(message)
    this.rule = rule
  }
}

interface DeadlineOptions {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
}

/**
 * Runs `work` with a controller that aborts when the time is up or the caller aborts, and always once the work
 * is done, so that no connection outlives it.
 */
export async function withDeadline<T>(
  { clock, signal, timeoutMs }: DeadlineOptions,
  work: (stop: AbortController) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  const release = linkAbort(signal, stop)
  const cancel = clock.schedule(timeoutMs, () => {
    stop.abort(new ExchangeStop('http-timeout', `the run did not end within ${timeoutMs} ms`))
  })
  try {
    return await work(stop)
  } finally {
    cancel()
    release()
    stop.abort()
  }
}

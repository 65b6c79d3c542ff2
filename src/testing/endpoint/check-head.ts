import { AGUI_MEDIA_TYPE } from '@ag-ui/proto'
import { describeError, describeValue } from '../describe.js'
import type { LintRule } from '../lint-rules.js'

type Report = (rule: LintRule, message: string) => void

/** Judges status and headers. Returns the body when a client would read it as an event stream. */
export async function checkHead(
  response: Response,
  report: Report,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { status, headers, body, ok } = response
  if (!ok) {
    const text = await response.text().catch(describeError)
    report('http-status', `HTTP ${status}: ${describeValue(text)}`)
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

import { isRecord, typeOf } from '../model/json.js'
import { checkRunFile, type RunEntry } from '../model/run-file.js'
import { readFrames, type RawFrame } from './read-frames.js'
import { maxEvents, RunRecord, type ForeignRequest, type SourceFailure } from './run-record.js'

interface ForeignOptions {
  readonly source: string
  /** Whether the page's own server lets it speak to others. */
  readonly isAllowed: boolean
}

/** Sends a request to any AG-UI endpoint and records what comes. Failures stand in the record. */
export function startForeignRun(request: ForeignRequest, { source, isAllowed }: ForeignOptions): RunRecord {
  const { threadId = '', runId = '', messages = [], state = {} } = request.input
  const file = checkRunFile({
    ...{ threadId, runId, status: 'running', url: request.url, startedAt: now(), input: request.input },
    ...{ start: { messages, state }, events: [] },
  })
  const record = new RunRecord(source, file, { isLive: true, request })
  void read(record, request, isAllowed).then(
    (failure) => finish(record, failure),
    (error: unknown) => finish(record, { key: 'insBroken', detail: messageOf(error) }),
  )
  return record
}

async function read(
  record: RunRecord,
  { url, headers, input }: ForeignRequest,
  isAllowed: boolean,
): Promise<SourceFailure | undefined> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return { key: 'insBadUrl', detail: url }
  if (!isAllowed && new URL(url).origin !== location.origin)
    return { key: 'insForbidden', detail: new URL(url).origin }
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify(input),
      credentials: 'omit',
      signal: record.signal,
    })
  } catch (error) {
    return { key: 'insNoAnswer', detail: messageOf(error) }
  }
  if (!response.ok) return { key: 'insRefused', detail: `${response.status}\n${await beginningOf(response)}` }
  const type = response.headers.get('content-type') ?? ''
  if (!response.body || !/^text\/event-stream\b/i.test(type))
    return { key: 'insNotSse', detail: `content-type: ${type || '–'}\n${await beginningOf(response)}` }
  for await (const frames of readFrames(response.body)) {
    record.add(toEntries(frames, record.entries.length))
    if (record.entries.length >= maxEvents) return { key: 'insTooMany', detail: String(maxEvents) }
  }
  return undefined
}

function toEntries(frames: readonly RawFrame[], before: number): RunEntry[] {
  const at = now()
  return frames
    .filter(({ data }) => data !== undefined)
    .map(({ raw, data }, index) => ({ seq: before + index, at, raw, ...parse(data) }))
}

function parse(data: string | undefined): { readonly event?: unknown } {
  try {
    return { event: JSON.parse(data ?? '') as unknown }
  } catch {
    return {}
  }
}

function finish(record: RunRecord, failure: SourceFailure | undefined): void {
  const last = record.entries.findLast(({ event }) =>
    /^RUN_(FINISHED|ERROR)$/.test(typeOf(event) ?? ''),
  )?.event
  const outcome = isRecord(last) && isRecord(last.outcome) ? last.outcome.type : undefined
  const ended = outcome === 'interrupt' ? 'interrupted' : outcome === 'cancelled' ? 'cancelled' : 'completed'
  const isStopped = record.signal.aborted
  const status = isStopped
    ? 'cancelled'
    : last === undefined
      ? 'lost'
      : typeOf(last) === 'RUN_ERROR'
        ? 'failed'
        : ended
  record.update({ status, endedAt: now() })
  record.end(isStopped ? undefined : failure)
}

async function beginningOf(response: Response): Promise<string> {
  const text = await response.text().catch(messageOf)
  return text.slice(0, 2000)
}

/** Finer than a clock of whole milliseconds: local servers are quick. */
function now(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 10) / 10
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

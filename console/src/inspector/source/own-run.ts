import { decodeSse, formatEventId, parseEventId } from 'millrace/protocol'
import type { Api } from '../../session/api.js'
import { isRecord } from '../model/json.js'
import { checkRunFile, type RunEntry, type RunFile } from '../model/run-file.js'
import { RunRecord } from './run-record.js'

/** A run of the page's own server. */
export interface OwnRun {
  readonly agent: string
  readonly threadId: string
  readonly runId: string
}

export function parseOwnRun(source: string): OwnRun | undefined {
  const parts = source.slice('run:'.length).split('/').map(decode)
  const [agent, threadId, runId] = parts
  return source.startsWith('run:') && parts.length === 3 && agent && threadId && runId
    ? { agent, threadId, runId }
    : undefined
}

/** Loads a run, and follows it as long as it goes on. Rejects with an `ApiError`. */
export async function openOwnRun(api: Api, source: string, run: OwnRun): Promise<RunRecord> {
  const file = await loadFile(api, run)
  const record = new RunRecord(source, file, { isLive: file.status === 'running' })
  if (record.isLive) void follow(api, record, run)
  return record
}

/** The address that a run of the server is sent to. */
export function urlOfAgent({ url }: Api, agent: string): string {
  return `${url}/agents/${encodeURIComponent(agent)}/run`
}

async function loadFile(api: Api, { agent, threadId, runId }: OwnRun): Promise<RunFile> {
  const path = [agent, threadId, runId].map(encodeURIComponent).join('/')
  const body = await api.get<unknown>(`runs/${path}`)
  return checkRunFile(isRecord(body) ? body : {})
}

const retryMs = 1000

/** Reads on from the last event until the run is over, then takes what only the file has. Must not reject. */
async function follow(api: Api, record: RunRecord, run: OwnRun): Promise<void> {
  while (!record.signal.aborted) {
    try {
      await readOn(api, record, run)
      const file = await loadFile(api, run)
      const { events, ...head } = file
      const last = record.entries.at(-1)?.seq ?? -1
      record.add(events.filter(({ seq }) => seq > last))
      record.update(head)
      if (file.status !== 'running') {
        record.end()
        return
      }
    } catch (error) {
      // The server is away for a while, or for good: then what has come stays.
      if (isRecord(error) && error.status === 404) {
        record.end()
        return
      }
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

async function readOn(api: Api, record: RunRecord, { agent, threadId, runId }: OwnRun): Promise<void> {
  const seq = record.entries.at(-1)?.seq
  const response = await api.fetch(`/agents/${encodeURIComponent(agent)}/connect`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(seq === undefined ? {} : { 'last-event-id': formatEventId({ runId, seq }) }),
    },
    body: JSON.stringify({ threadId, runId, protocolVersion: '1.1' }),
    signal: record.signal,
  })
  if (!response.ok || !response.body) return
  for await (const frame of decodeSse(chunksOf(response.body))) {
    const position = frame.id === undefined ? undefined : parseEventId(frame.id)
    if (frame.kind !== 'event' || position?.runId !== runId) continue
    const entry: RunEntry = { seq: position.seq, at: Date.now(), event: frame.event }
    if (entry.seq > (record.entries.at(-1)?.seq ?? -1)) record.add([entry])
  }
}

/** Not the body's own iterator: some browsers have none. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

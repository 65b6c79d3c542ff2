import type { Message, RunAgentInput } from '@ag-ui/core'
import { isRecord } from './json.js'

/** A run as it is saved: what the thread held before it, and everything that went over the wire. */
export interface RunFile {
  readonly format: 'millrace-run'
  readonly version: 1
  readonly agent?: string
  readonly threadId: string
  readonly runId: string
  readonly user?: string
  /** Of a run of another server: the address it was sent to. */
  readonly url?: string
  readonly status: string
  readonly startedAt?: number
  readonly endedAt?: number
  /** Events are missing: the server had no room for them. */
  readonly isCut?: true
  /** As the client has sent it. */
  readonly input?: Partial<RunAgentInput>
  /** What the client held before the run. */
  readonly start: { readonly messages: readonly Message[]; readonly state: unknown }
  readonly events: readonly RunEntry[]
  readonly requests: readonly ModelRequest[]
  readonly changes: readonly HookChange[]
}

/** One event of a run. Nothing about it is certain: a producer may have written anything. */
export interface RunEntry {
  readonly seq: number
  /** Milliseconds since 1970. */
  readonly at?: number
  /** Absent when the frame was no JSON. */
  readonly event?: unknown
  /** The frame as it came, if it was kept. */
  readonly raw?: string
}

/** What a model was asked. */
export interface ModelRequest {
  readonly at?: number
  readonly endedAt?: number
  readonly agent?: string
  readonly model?: string
  readonly messages?: unknown
  readonly tools?: unknown
  readonly settings?: unknown
  readonly usage?: unknown
  readonly error?: unknown
}

/** What a hook of the application has changed. */
export interface HookChange {
  readonly at?: number
  readonly hook: string
  readonly seq?: number
  readonly before?: unknown
  readonly after?: unknown
}

export type RunFileFault = 'too-large' | 'not-json' | 'not-a-run' | 'newer-version' | 'broken-events'

/** A file that cannot be read. `detail` says where. */
export class RunFileError extends Error {
  readonly fault: RunFileFault
  readonly detail: string

  constructor(fault: RunFileFault, detail: string) {
    super(`${fault}: ${detail}`)
    this.fault = fault
    this.detail = detail
  }
}

/** More would take the page down with it. */
const maxFileSize = 256 * 1024 * 1024

/** Reads a run file, or a plain list of events. Throws a `RunFileError`. */
export function parseRunFile(text: string): RunFile {
  if (text.length > maxFileSize) throw new RunFileError('too-large', String(text.length))
  const value = parseJson(text)
  if (Array.isArray(value)) return fromEvents(value)
  if (!isRecord(value)) throw new RunFileError('not-a-run', describe(value))
  if (value.format !== 'millrace-run')
    throw new RunFileError('not-a-run', `format: ${describe(value.format)}`)
  if (value.version !== 1) throw new RunFileError('newer-version', describe(value.version))
  return checkRunFile(value)
}

/** Checks what has come as JSON from a server or a file. */
export function checkRunFile(value: Record<string, unknown>): RunFile {
  const events = listOf(value, 'events').map(toEntry)
  const start = isRecord(value.start) ? value.start : {}
  const { messages = [], state = {} } = start
  return {
    ...{ format: 'millrace-run', version: 1 },
    ...{ threadId: text(value.threadId), runId: text(value.runId), status: text(value.status) },
    ...pick(value, ['agent', 'user', 'url'], 'string'),
    ...pick(value, ['startedAt', 'endedAt'], 'number'),
    ...(value.isCut === true ? { isCut: true } : {}),
    ...(isRecord(value.input) ? { input: value.input } : {}),
    start: { messages: (Array.isArray(messages) ? messages.filter(isMessage) : []) as Message[], state },
    events,
    requests: listOf(value, 'requests').filter(isRecord),
    changes: listOf(value, 'changes')
      .filter(isRecord)
      .map((change) => ({ ...change, hook: text(change.hook) })),
  }
}

/** The text of a run file. */
export function formatRunFile(file: RunFile): string {
  return `${JSON.stringify(file, undefined, 1)}\n`
}

/** The name under which a run is saved. */
export function fileNameOf({ agent, runId }: Pick<RunFile, 'agent' | 'runId'>): string {
  const name = [agent, runId]
    .filter(Boolean)
    .join('-')
    .replace(/[^\w.-]+/g, '_')
  return `${name === '' ? 'run' : name.slice(0, 100)}.run.json`
}

function fromEvents(events: readonly unknown[]): RunFile {
  const started = events.find((event) => isRecord(event) && event.type === 'RUN_STARTED')
  const { threadId, runId, input } = isRecord(started) ? started : {}
  if (events.length > 0 && !events.some((event) => isRecord(event) && typeof event.type === 'string'))
    throw new RunFileError('not-a-run', describe(events[0]))
  return checkRunFile({
    ...{ threadId, runId, input, status: 'completed' },
    events: events.map((event, seq) => ({ seq, event })),
  })
}

function toEntry(value: unknown, index: number): RunEntry {
  if (!isRecord(value) || (!('event' in value) && typeof value.raw !== 'string'))
    throw new RunFileError('broken-events', `events[${index}]: ${describe(value)}`)
  return {
    seq: typeof value.seq === 'number' ? value.seq : index,
    ...('event' in value ? { event: value.event } : {}),
    ...pick(value, ['at'], 'number'),
    ...pick(value, ['raw'], 'string'),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new RunFileError('not-json', error instanceof Error ? error.message : String(error))
  }
}

function listOf(value: Record<string, unknown>, name: string): readonly unknown[] {
  const list = value[name]
  if (list === undefined && name !== 'events') return []
  if (!Array.isArray(list)) throw new RunFileError('broken-events', `${name}: ${describe(list)}`)
  return list
}

function isMessage(value: unknown): boolean {
  return isRecord(value) && typeof value.id === 'string' && typeof value.role === 'string'
}

function pick(value: Record<string, unknown>, names: readonly string[], type: string): object {
  return Object.fromEntries(
    names.flatMap((name) => (typeof value[name] === type ? [[name, value[name]]] : [])),
  )
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function describe(value: unknown): string {
  const json = JSON.stringify(value) as string | undefined
  return json === undefined ? 'undefined' : json.length > 80 ? `${json.slice(0, 80)} …` : json
}

import { decodeSse, type AgUiEvent } from 'millrace/protocol'
import { connect, type Socket } from 'node:net'

/** One request for a stream. */
export interface StreamRequest {
  readonly path: string
  readonly body: string
  /** The whole request, head and body. */
  readonly bytes: Buffer
}

export interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly content: string
}

const question: Message = { id: 'question', role: 'user', content: 'Say it.' }
let ids = 0

/** A request on a new thread. With a history, the client sends it and one more message. */
export function streamRequest(
  agent: string,
  { history = [], threadId = `thread-${++ids}`, ...more }: Partial<RequestFields> = {},
): StreamRequest {
  const body = JSON.stringify({
    threadId,
    runId: `run-${++ids}`,
    protocolVersion: '1.0',
    state: {},
    messages: [...history, question],
    tools: [],
    context: [],
    forwardedProps: {},
    ...more,
  })
  const path = `/agents/${agent}/run`
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    'accept: text/event-stream',
    'connection: close',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return { path, body, bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`) }
}

interface RequestFields {
  readonly threadId: string
  readonly history: readonly Message[]
  readonly forwardedProps: object
}

/** All events of a stream, read by another client. */
export async function readStream(port: number, { path, body }: StreamRequest): Promise<AgUiEvent[]> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  if (!response.ok || !response.body) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  const events: AgUiEvent[] = []
  for await (const frame of decodeSse(response.body)) {
    if (frame.kind === 'malformed') throw new Error(`${path}: ${frame.data}`)
    events.push(frame.event as AgUiEvent)
  }
  return events
}

export interface OpenStream {
  send(): void
  /** Resolves at the first event. */
  readonly first: Promise<void>
  /** Resolves with the number of events when the server has ended the stream. Rejects if the stream breaks off. */
  readonly ended: Promise<number>
  close(): void
}

export interface StreamOptions {
  readonly bufferBytes?: number
  /** Gets the bytes as they come. They are valid only until it returns. */
  readonly onBytes?: (bytes: Buffer) => void
}

/** Connects, ready to send. Counts events by their bytes and parses nothing, so that the client is never the slow side. */
export async function openStream(
  port: number,
  request: StreamRequest,
  { bufferBytes = 64 * 1024, onBytes }: StreamOptions = {},
): Promise<OpenStream> {
  const counter = createCounter()
  let onFirst: () => void = () => undefined
  const first = new Promise<void>((resolve) => void (onFirst = resolve))
  const buffer = Buffer.allocUnsafe(bufferBytes)
  const socket = await connected(port, buffer, (length) => {
    const bytes = buffer.subarray(0, length)
    const before = counter.count
    counter.take(bytes)
    if (before === 0 && counter.count > 0) onFirst()
    onBytes?.(bytes)
  })
  const ended = new Promise<number>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => {
      if (counter.isWhole()) resolve(counter.count)
      else reject(new Error('a stream has broken off'))
    })
  })
  // Some callers do not wait for the end.
  ended.catch(() => undefined)
  return {
    send: () => void socket.write(request.bytes),
    first,
    ended,
    close: () => void socket.destroy(),
  }
}

function connected(port: number, buffer: Buffer, onRead: (length: number) => void): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const callback = (length: number): boolean => {
      onRead(length)
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
    socket.once('connect', () => resolve(socket)).once('error', reject)
  })
}

const mark = Buffer.from('data: ')
const lastChunk = Buffer.from('0\r\n\r\n')

/** Counts the frames in the chunks of a stream, also those that two chunks share. */
function createCounter() {
  let count = 0
  let rest = Buffer.alloc(0)
  return {
    get count() {
      return count
    },
    isWhole: () => rest.equals(lastChunk),
    take(bytes: Buffer): void {
      const seam = Buffer.concat([rest, bytes.subarray(0, mark.length - 1)])
      if (seam.includes(mark)) count++
      for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) count++
      const whole = bytes.length >= mark.length - 1 ? bytes : Buffer.concat([rest, bytes])
      rest = Buffer.from(whole.subarray(Math.max(0, whole.length - mark.length + 1)))
    },
  }
}

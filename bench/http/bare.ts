import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { works } from './agents.js'

export const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
export const ends = { threadId: 'thread', runId: 'run' }
export const encode = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/** Listens on a free port of the loopback interface, and returns the port. */
export function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Writes pre-encoded frames, one write each: the least a server can do. */
export async function preEncoded(): Promise<RequestListener> {
  const frames = new Map<string, readonly Buffer[]>()
  for (const name of ['burst', 'hello']) {
    const ready: Buffer[] = []
    await runAgent(name, new AbortController().signal, (event) => ready.push(Buffer.from(encode(event))))
    frames.set(name, ready)
  }
  return onBody((name, response) => {
    const ready = frames.get(name)
    if (!ready) return void writeEach(name, response)
    response.writeHead(200, headers)
    for (const frame of ready) response.write(frame)
    response.end()
  })
}

/** Runs the agent and writes the JSON of each event. */
export function jsonEach(): RequestListener {
  return onBody((name, response) => void writeEach(name, response))
}

async function writeEach(name: string, response: ServerResponse): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  response.writeHead(200, headers)
  await runAgent(name, gone.signal, (event) => response.write(encode(event)))
  response.end()
}

async function runAgent(name: string, signal: AbortSignal, take: (event: object) => void): Promise<void> {
  const work = works[name]
  if (!work) throw new Error(`there is no agent '${name}'`)
  take({ type: 'RUN_STARTED', ...ends })
  for await (const event of work({ signal, client: { forwardedProps: undefined } })) take(event)
  take({ type: 'RUN_FINISHED', ...ends, outcome: { type: 'success' } })
}

/** Reads the body, as every server must, then responds. Serves agents under Millrace's paths. */
export function onBody(answer: (name: string, response: ServerResponse) => void): RequestListener {
  return (request: IncomingMessage, response) => {
    request.resume()
    request.on('end', () => answer(/^\/agents\/(\w+)\/run$/.exec(request.url ?? '')?.[1] ?? '', response))
  }
}

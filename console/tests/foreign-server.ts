import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

export interface ForeignServer {
  readonly url: string
  /** What was posted, the latest last. */
  readonly bodies: readonly Record<string, unknown>[]
}

type Answer = (response: ServerResponse, body: Record<string, unknown>) => void

/** An AG-UI endpoint written by hand, with an answer for each path. */
export function useForeignServer(answers: Readonly<Record<string, Answer>>): ForeignServer {
  const bodies: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (path !== '/closed')
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    if (request.method === 'OPTIONS') return void response.writeHead(path === '/closed' ? 403 : 204).end()
    void bodyOf(request).then((body) => {
      bodies.push(body)
      answers[path]?.(response, body)
    })
  })
  let port = 0
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    get url() {
      return `http://127.0.0.1:${port}`
    },
    bodies,
  }
}

/** Writes the texts as an event stream, each as it is. */
export function stream(response: ServerResponse, texts: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const text of texts) response.write(text)
  response.end()
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEachTest } from '../support/after-each-test.js'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

const open = new Set<Server>()

afterEachTest(async () => {
  const servers = [...open]
  open.clear()
  await Promise.all(servers.map(close))
})

/** Serves on a free loopback port until the test ends, and returns the address. */
export async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.add(server)
  return addressOf(server)
}

/** An address where nothing listens any more. */
export async function deadAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = addressOf(server)
  await close(server)
  return address
}

/** The text of a request body. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return text
}

function addressOf(server: Server): string {
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/agent`
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => {
      if (error) reject(error)
      else resolve()
    })
    server.closeAllConnections()
  })
}

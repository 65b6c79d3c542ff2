import type { Agent } from 'millrace'
import { createMemoryStore } from 'millrace/memory'
import { createServer } from 'millrace/server'

/** A server, called in this process: sockets cost both sides the same. */
export type Handler = (request: Request) => Promise<Response>

/** The whole house: `createServer` with threads in memory. */
export function wholeServer(agent: Agent): Handler {
  const quiet = (): void => undefined
  const log = { debug: quiet, info: quiet, warn: quiet, error: console.error }
  const server = createServer({ agents: [agent], store: createMemoryStore(), log })
  return (request) => Promise.resolve(server.fetch(request))
}

interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly content: string
}

const textOf = (n: number): string => `This is message ${n} of the conversation.`

/** A client that sends its whole list of messages with every turn, as AG-UI clients do. */
export class Conversation {
  readonly #handle: Handler
  readonly #messages: Message[]
  #turns = 0

  /** With messages from elsewhere, which the server gets to know with the first turn. */
  constructor(handle: Handler, brought = 0) {
    this.#handle = handle
    this.#messages = Array.from({ length: brought }, (_, n) => ({
      id: `brought-${n}`,
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: textOf(n),
    }))
  }

  /** One turn. Returns the CPU time of the server in microseconds: nothing here waits. */
  async turn(): Promise<number> {
    const turn = this.#turns++
    this.#messages.push({ id: `u${turn}`, role: 'user', content: textOf(turn) })
    const request = this.#request(`run-${turn}`)
    const before = process.cpuUsage()
    const response = await this.#handle(request)
    const text = await response.text()
    const { user, system } = process.cpuUsage(before)
    const id = /"messageId":"([^"]+)"/.exec(text)?.[1]
    const deltas = Array.from(text.matchAll(/"delta":"([^"]*)"/g), ([, delta]) => delta)
    if (id === undefined || !text.includes('RUN_FINISHED') || text.includes('MESSAGES_SNAPSHOT'))
      throw new Error(`turn ${turn}: ${text.slice(0, 1_000)}`)
    this.#messages.push({ id, role: 'assistant', content: deltas.join('') })
    return user + system
  }

  async turnsUntil(turns: number): Promise<this> {
    while (this.#turns < turns) await this.turn()
    return this
  }

  #request(runId: string): Request {
    const body = JSON.stringify({
      ...{ threadId: 't', runId, protocolVersion: '1.0', state: {}, messages: this.#messages },
      ...{ tools: [], context: [], forwardedProps: {} },
    })
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      accept: 'text/event-stream',
    }
    return new Request('http://localhost/', { method: 'POST', headers, body })
  }
}

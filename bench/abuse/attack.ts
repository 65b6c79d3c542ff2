import { Agent, request } from 'node:http'
import { connect } from 'node:net'

/** One attack on a server of this machine. */
export interface Attack {
  readonly port: number
  /** Nobody has attacked from it, or under its name, before: the limits of an attack are its own. */
  readonly address: string
  /** On the clock of `performance`. */
  readonly endsAt: number
  /** Called for each request, with its status, or when its connection was cut without an answer. */
  readonly answered: (status: number | 'cut') => void
}

/** What one connection waits between two requests: the processor of the attacker is the server's too. */
const pauseMs = 5
const connectionCount = 300
const dripMs = 100
const agent = new Agent({ keepAlive: true })
let ids = 0

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const isOver = ({ endsAt }: Attack): boolean => performance.now() >= endsAt

/** The fields of a run on a new thread, unless they say otherwise. */
export function input(fields: object = {}): object {
  return {
    ...{ threadId: `thread-${++ids}`, runId: `run-${++ids}`, protocolVersion: '1.0' },
    ...{
      state: {},
      messages: [{ id: 'question', role: 'user', content: 'Say it.' }],
      tools: [],
      context: [],
    },
    ...fields,
  }
}

const userOf = ({ address }: Attack): string => `attacker-${address}`

/** The head of a run whose body has this length. */
export function headOf(attack: Attack, path: string, length: number): string {
  const fields = ['host: 127.0.0.1', 'content-type: application/json', `x-user: ${userOf(attack)}`]
  return `POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\ncontent-length: ${length}\r\n\r\n`
}

/** Does something on many connections, again and again. */
export async function repeat(attack: Attack, count: number, once: () => Promise<unknown>): Promise<void> {
  const loop = async (): Promise<void> => {
    while (!isOver(attack)) {
      await once()
      await pause(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: count }, loop))
}

interface Sending {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly user?: string | undefined
  /** Whether it hangs up at the first bytes. */
  readonly hangsUp?: boolean
}

/** Sends a request. Resolves when it is over, however it ends. */
export function send({ port, address, answered }: Attack, sending: Sending): Promise<void> {
  const { method, path, body = '', user, hangsUp = false } = sending
  const headers = {
    ...{ 'content-type': 'application/json', accept: 'text/event-stream' },
    ...(user === undefined ? {} : { 'x-user': user }),
    ...(method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) }),
  }
  return new Promise((resolve) => {
    let isAnswered = false
    const sent = request({ host: '127.0.0.1', port, localAddress: address, agent, method, path, headers })
    sent.once('response', (response) => {
      isAnswered = true
      answered(response.statusCode ?? 0)
      response.resume()
      response.on('error', () => resolve()).once('close', resolve)
      if (hangsUp) sent.destroy()
    })
    // More than one may come: a refusal, and then the rest of the body that nobody takes.
    sent.on('error', () => {
      if (!isAnswered) answered('cut')
      isAnswered = true
      resolve()
    })
    sent.end(body)
  })
}

/** Posts as the attacker. */
export function post(
  attack: Attack,
  path: string,
  body: object | string,
  more: Partial<Sending> = {},
): Promise<void> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return send(attack, { method: 'POST', path, body: text, user: userOf(attack), ...more })
}

interface Trickle {
  /** Sent at once. */
  readonly head: string
  /** Sent again and again. */
  readonly drop: string
  /** Whether it never reads an answer. */
  readonly isDeaf?: boolean
}

/** Keeps many connections open, and opens a new one for each that is closed. */
export async function connections(attack: Attack, trickle: Trickle): Promise<void> {
  await repeat(attack, connectionCount, async () => {
    await holdOne(attack, trickle)
    await pause(dripMs)
  })
}

function holdOne(
  { port, address, answered }: Attack,
  { head, drop, isDeaf = false }: Trickle,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: address })
    let status: number | 'cut' = 'cut'
    if (isDeaf) socket.pause()
    else socket.once('data', (bytes: Buffer) => void (status = Number(bytes.toString('latin1', 9, 12))))
    const write = (text: string): void => {
      if (text !== '' && socket.writable) socket.write(text)
    }
    const timer = setInterval(write, dripMs, drop)
    socket.once('connect', () => write(head))
    socket.on('error', () => undefined)
    socket.once('close', () => {
      clearInterval(timer)
      answered(status)
      resolve()
    })
  })
}

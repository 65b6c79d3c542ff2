import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'

/** The program of the neutral clients. Its argument is the port; each number it is sent is a time to measure, in seconds. */
export const neutralFile = fileURLToPath(import.meta.url)

/** What the neutral clients have seen, in milliseconds. */
export interface Seen {
  readonly first: readonly number[]
  readonly end: readonly number[]
  /** Why runs have failed. There should be none. */
  readonly failures: readonly string[]
}

/** Each user has an address of its own, as users have. */
const users = 40
const everyMs = 20

interface User {
  readonly name: string
  readonly agent: Agent
}

interface Times {
  readonly first: number
  readonly end: number
}

let runs = 0

/** One short run. Counts from the moment at which it was due, so a client that waits its turn is not left out. */
function run(port: number, { name, agent }: User, dueAt: number): Promise<Times> {
  const id = `${name}-${++runs}`
  const body = JSON.stringify({
    ...{ threadId: id, runId: id, protocolVersion: '1.0', state: {}, tools: [], context: [] },
    messages: [{ id: 'question', role: 'user', content: 'Say it.' }],
  })
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', 'x-user': name }
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: '127.0.0.1', port, agent, method: 'POST', path: '/agents/hello/run' },
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    })
    sent.on('error', reject)
    sent.once('response', (response) => {
      let first: number | undefined
      let text = ''
      response.on('data', (bytes: Buffer) => {
        first ??= performance.now() - dueAt
        text += bytes.toString()
      })
      response.on('error', reject)
      response.once('end', () => {
        const end = performance.now() - dueAt
        if (text.includes('RUN_FINISHED')) resolve({ first: first ?? end, end })
        else reject(new Error(`${response.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    sent.end(body)
  })
}

/** Starts a run every 20 ms, whether those before are over or not. */
async function measure(port: number, all: readonly User[], seconds: number): Promise<Seen> {
  const seen = { first: [] as number[], end: [] as number[], failures: [] as string[] }
  const began = performance.now()
  const waiting: Promise<void>[] = []
  const count = Math.round((seconds * 1000) / everyMs)
  for (let n = 0; n < count; n++) {
    const dueAt = began + n * everyMs
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const user = all[n % all.length]
    if (!user) break
    // A timer fires late by up to a millisecond, which is no fault of the server.
    const startedAt = waitMs > 0 ? performance.now() : dueAt
    const one = run(port, user, startedAt).then(
      ({ first, end }) => {
        seen.first.push(first)
        seen.end.push(end)
      },
      (error: unknown) => void seen.failures.push(String(error)),
    )
    waiting.push(one)
  }
  await Promise.all(waiting)
  return seen
}

function main(port: number): void {
  const all = Array.from({ length: users }, (_, n): User => {
    // A connection for each run: abuse may also keep people from connecting.
    const agent = new Agent({ keepAlive: false, localAddress: `127.0.1.${n + 1}` })
    return { name: `neutral-${n}`, agent }
  })
  process.on('message', (seconds: number) => {
    void measure(port, all, seconds).then((seen) => process.send?.(seen))
  })
  process.on('disconnect', () => process.exit(0))
}

if (process.argv[1] === neutralFile) main(Number(process.argv[2]))

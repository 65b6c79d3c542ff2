import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { assertValidStream } from '../../src/testing/index.js'
import { deferred } from '../support/run-agent.js'
import { gatedAgent } from './support-gated.js'
import { openStream, textIn } from './support-stream.js'
import { ask, inputOf, serving, user } from './support-server.js'

const post = 'POST /run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
const speak = inputOf({ messages: [user('u1', 'Speak.')] })

interface RawSocket {
  /** Resolves with all that has come when the connection is closed. */
  readonly closed: Promise<string>
  /** What has come so far. */
  text(): string
}

/** A connection that has sent this much. */
async function connected(url: string, sent = ''): Promise<RawSocket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (data: Buffer) => (text += data.toString()))
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await once(socket, 'connect')
  if (sent !== '') socket.write(sent)
  return { closed, text: () => text }
}

/** Longer than a test may take: what is waited for that long fails it. */
const patient = { graceMs: 600_000 }

it.each([
  // As fetch does, which opens another ahead when one is aborted.
  ['nothing', ''],
  ['half a line', 'POST /ru'],
  ['half a header', post],
])('does not wait for a connection that has sent %s', async (_name, sent) => {
  const made = await serving({ agents: [gatedAgent([]).agent] })
  const { closed } = await connected(made.url, sent)
  // What was sent is there.
  await ask(`${made.url}/healthz`)
  await made.close(patient)
  expect(await closed).toBe('')
})

it('waits no longer than its time for a request whose body does not come', async () => {
  const made = await serving({ agents: [gatedAgent([]).agent] })
  const { closed } = await connected(made.url, `${post}content-length: 500\r\n\r\n{`)
  await ask(`${made.url}/healthz`)
  await made.close({ graceMs: 0 })
  expect(await closed).not.toContain('200 OK')
})

it('a shorter time counts for requests as well', async () => {
  const made = await serving({ agents: [gatedAgent([]).agent] })
  const { closed } = await connected(made.url, `${post}content-length: 500\r\n\r\n{`)
  await ask(`${made.url}/healthz`)
  await Promise.all([made.close(patient), made.close({ graceMs: 0 })])
  await closed
})

it('waits no longer than its time for a request that is never answered', async () => {
  const asked = deferred()
  const identify = () => {
    asked.resolve()
    return new Promise<never>(() => undefined)
  }
  const made = await serving({ agents: [gatedAgent([]).agent], identify })
  const answer = ask(`${made.url}/agents`)
  const refused = expect(answer).rejects.toThrow()
  await asked.promise
  await made.close({ graceMs: 0 })
  await refused
})

it('answers a request that is answered in time', async () => {
  const [asked, known] = [deferred(), deferred()]
  const identify = async () => {
    asked.resolve()
    await known.promise
    return { user: 'ann' }
  }
  const made = await serving({ agents: [gatedAgent([]).agent], identify })
  const answer = ask(`${made.url}/agents`)
  await asked.promise
  const closed = made.close(patient)
  // Longer than it takes to notice that it is closing.
  await new Promise((resolve) => setTimeout(resolve, 300))
  known.resolve()
  expect(await answer).toMatchObject({ status: 200 })
  await closed
})

it('answers all requests of a connection that has a stream open', async () => {
  const speaker = gatedAgent(['one', 'two'])
  const made = await serving({ agents: [speaker.agent] })
  const body = JSON.stringify(speak)
  const next = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'
  const both = `${post}content-length: ${body.length}\r\n\r\n${body}${next}`
  const raw = await connected(made.url, both)
  speaker.say(0)
  await expect.poll(() => raw.text()).toContain('"delta":"one"')
  const ended = made.close()
  await new Promise((resolve) => setTimeout(resolve, 150))
  speaker.say(1)
  await ended
  expect(await raw.closed).toMatch(/"delta":"two".*RUN_FINISHED.*200 OK.*"status":"ok"/su)
})

it.each([1000, 100_000, 1_000_000])(
  'a slow reader gets a stream of 8 × %i bytes to its end',
  async (size) => {
    const words = Array.from({ length: 8 }, (_, n) => String(n).repeat(size))
    const speaker = gatedAgent(words)
    const made = await serving({ agents: [speaker.agent] })
    const stream = await openStream(`${made.url}/run`, { body: speak, isPaused: true })
    speaker.sayAll()
    const ended = made.close()
    await new Promise((resolve) => setTimeout(resolve, 300))
    stream.resume()
    await stream.whole()
    assertValidStream(stream.events, { input: speak })
    expect(textIn(stream.events)).toBe(words.join(''))
    await ended
  },
)

import { HttpAgent, type RunAgentInput } from '@ag-ui/client'
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { decodeSse, type AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { afterEachTest } from '../support/after-each-test.js'

/** Streams the clients of a test have got, to be linted when it is over. */
const checks = new Set<() => Promise<void>>()

afterEachTest(async () => {
  const all = [...checks]
  checks.clear()
  for (const check of all) await check()
})

/** Clients of both protocol versions, with a `connect` that asks this server. */
export interface ClientOptions {
  /** Of the server, or of one of its agents. */
  readonly url: string
  readonly threadId?: string
  readonly headers?: Record<string, string>
}

class NewClient extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    const { url, headers, fetch } = this
    return new ConnectRequest({ url: connectUrl(url), headers, fetch }).run(input)
  }
}

/** A connection is for a thread: the run id that clients make up for the call means nothing to the server. */
class ConnectRequest extends HttpAgent {
  protected override requestInit(input: RunAgentInput): RequestInit {
    const { threadId, protocolVersion } = input
    return { ...super.requestInit(input), body: JSON.stringify({ threadId, protocolVersion }) }
  }
}

type OldInput = Parameters<OldHttpAgent['run']>[0]

class OldClient extends OldHttpAgent {
  protected override connect(input: OldInput): ReturnType<OldHttpAgent['run']> {
    const { url, headers, fetch } = this
    return new OldConnectRequest({ url: connectUrl(url), headers, fetch }).run(input)
  }
}

class OldConnectRequest extends OldHttpAgent {
  protected override requestInit(input: OldInput): RequestInit {
    return { ...super.requestInit(input), body: JSON.stringify({ threadId: input.threadId }) }
  }
}

const connectUrl = (url: string): string => url.replace(/run$/, 'connect')

export function newClient({ url, threadId = 'thread-1', headers = {} }: ClientOptions) {
  return new NewClient({ url: `${url}/run`, threadId, headers, fetch: lintedFetch })
}

export function oldClient({ url, threadId = 'thread-1', headers = {} }: ClientOptions) {
  return new OldClient({ url: `${url}/run`, threadId, headers, fetch: lintedFetch })
}

export const clients = [
  ['1.0', newClient],
  ['0.0.59', oldClient],
] as const

/** The global `fetch`. What it gets is linted when the test is over, as far as it got. */
async function lintedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  if (!response.body || !response.ok) return response
  const [own, theirs] = response.body.tee()
  const reading = readAll(own)
  checks.add(async () => {
    const { events, isWhole } = await reading
    const input: unknown = url.endsWith('/run') ? JSON.parse(init.body as string) : undefined
    assertValidStream(events, { complete: isWhole, ...(input === undefined ? {} : { input }) })
  })
  return new Response(theirs, response)
}

async function readAll(body: ReadableStream<Uint8Array>) {
  const events: unknown[] = []
  try {
    for await (const frame of decodeSse(body)) events.push(frame.kind === 'event' ? frame.event : frame.data)
    return { events, isWhole: true }
  } catch {
    return { events, isWhole: false }
  }
}

/** What a client was told, in order. */
export function eventsTo(client: {
  subscribe: (subscriber: { onEvent: (given: { event: { type: string } }) => void }) => unknown
}): AgUiEvent[] {
  const events: AgUiEvent[] = []
  client.subscribe({ onEvent: ({ event }) => void events.push(event as AgUiEvent) })
  return events
}

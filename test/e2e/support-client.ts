import { createClient, type Client, type ClientOptions, type ThreadSnapshot } from '../../src/client/index.js'
import type { Message } from '@ag-ui/core'
import { createFold, decodeSse, type AgUiEvent, type Fold } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { afterEachTest } from '../support/after-each-test.js'

const checks = new Set<() => Promise<void>>()
const open = new Set<{ close(): void }>()

afterEachTest(async () => {
  const [threads, all] = [[...open], [...checks]]
  open.clear()
  checks.clear()
  for (const thread of threads) thread.close()
  for (const check of all) await check()
})

/** A client of a server. Its threads are closed when the test is over, and the streams that it got are linted. */
export function clientOf(url: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({
    url,
    retry: { firstMs: 1, maxMs: 20 },
    ...options,
    fetch: lintedFetch(options.fetch ?? globalThis.fetch),
  })
  return {
    ...client,
    thread: (...given) => {
      const thread = client.thread(...given)
      open.add(thread)
      return thread as never
    },
  }
}

interface Recorded {
  readonly body: Readonly<Record<string, unknown>>
  readonly isRun: boolean
  /** Whether it continues another stream. */
  readonly isRest: boolean
  readonly chunks: Uint8Array[]
}

/** Not a `tee`: a client that hangs up must hang up on the server. */
function lintedFetch(inner: typeof fetch): typeof fetch {
  const streams: Recorded[] = []
  checks.add(() => lintStreams(streams))
  return async (url, init) => {
    const response = await inner(url, init)
    if (!response.body || response.headers.get('content-type') !== 'text/event-stream') return response
    const chunks: Uint8Array[] = []
    const record = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        chunks.push(chunk)
        controller.enqueue(chunk)
      },
    })
    const body = JSON.parse(init?.body as string) as Recorded['body']
    const isRest = new Headers(init?.headers).has('last-event-id')
    streams.push({ body, chunks, isRest, isRun: new URL(url).pathname.endsWith('/run') })
    return new Response(response.body.pipeThrough(record), response)
  }
}

/** A client that sends only what is new has the rest from the streams before. */
async function lintStreams(streams: readonly Recorded[]): Promise<void> {
  const folds = new Map<unknown, Fold>()
  for (const { body, chunks, isRest, isRun } of streams) {
    const fold = folds.get(body.threadId) ?? createFold()
    folds.set(body.threadId, fold)
    const events: AgUiEvent[] = []
    // What was cut off in the middle of a frame is no event.
    for await (const frame of decodeSse(toAsync(chunks)))
      if (frame.kind === 'event') events.push(frame.event as AgUiEvent)
    const sent = isRun ? (body.messages as Message[]) : []
    const held = sent.filter(({ id }) => !fold.messages.some((message) => message.id === id))
    const messages = [...fold.messages, ...held].filter(({ role }) => role !== 'activity')
    const state: unknown = body.state ?? fold.state
    const input = { runId: '-', tools: [], context: [], ...body, messages, state }
    if (!isRest) assertValidStream(events, { complete: false, input })
    fold.apply({ type: 'MESSAGES_SNAPSHOT', messages })
    for (const event of events) fold.apply(event)
  }
}

async function* toAsync<T>(values: readonly T[]): AsyncGenerator<T> {
  await Promise.resolve()
  yield* values
}

interface Watched {
  readonly subscribe: (listener: () => void) => () => void
  readonly getSnapshot: () => ThreadSnapshot
}

/** Resolves with the first snapshot that fits. Subscribes until then. */
export function until(thread: Watched, fits: (snapshot: ThreadSnapshot) => boolean): Promise<ThreadSnapshot> {
  return new Promise((resolve) => {
    const look = (): void => {
      const snapshot = thread.getSnapshot()
      if (!fits(snapshot)) return
      unsubscribe()
      resolve(snapshot)
    }
    const unsubscribe = thread.subscribe(look)
    look()
  })
}

/** The texts of messages, as `role: text`. */
export function textsOf({ messages }: Pick<ThreadSnapshot, 'messages'>): string[] {
  return messages.map(
    ({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`,
  )
}

import type { UnderlyingSource } from 'node:stream/web'
import type { AgUiAgent } from './contract.js'

/** The state of the connection, if there is one. */
export interface Transport {
  isAnswered: boolean
  contentType: string | undefined
  /** The reason why the response broke off. */
  broken: unknown
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * Watches the connection of an `HttpAgent`, for two things that the agent does not do itself: it reads on however far its
 * reader is behind, and when a connection breaks off, it leaves an unhandled rejection that ends a Node process. So bodies
 * wait while `waitForSpace` returns a promise, and a body that breaks off ends as if it were whole, with the reason in
 * `broken`. Does not change other agents.
 */
export function watchFetch(agent: AgUiAgent, waitForSpace: () => Promise<void> | undefined): Transport {
  const transport: Transport = { isAnswered: false, contentType: undefined, broken: undefined }
  const original: unknown = Reflect.get(agent, 'fetch')
  if (typeof original !== 'function' || typeof Reflect.get(agent, 'url') !== 'string') {
    transport.isAnswered = true
    return transport
  }
  const watched: Fetch = async (url, init) => {
    const response = await (original as Fetch).call(agent, url, init)
    transport.isAnswered = true
    transport.contentType = response.headers.get('content-type') ?? ''
    const { body, ok } = response
    if (!ok || !(body instanceof ReadableStream)) return response
    return new Response(watchedBody(body, transport, waitForSpace), response)
  }
  Reflect.set(agent, 'fetch', watched)
  return transport
}

function watchedBody(
  body: ReadableStream<Uint8Array>,
  transport: Transport,
  waitForSpace: () => Promise<void> | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      await waitForSpace()
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        transport.broken = error
        controller.close()
      }
    },
    async cancel(reason) {
      // A body that has broken off cannot be cancelled, and need not be.
      await reader.cancel(reason).catch(() => undefined)
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

import type { UnderlyingSource } from 'node:stream/web'
import type { AgUiAgent } from '../options.js'

/** What is known of the connection, where there is one. */
export interface Transport {
  isAnswered: boolean
  contentType: string | undefined
  /** Why the body of the answer broke off. */
  broken: unknown
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * Puts a hand between an `HttpAgent` and its connection, for two things that it does not do itself: it reads on however
 * far its reader is behind, and when a connection breaks off in the middle, it leaves a rejection behind that nobody
 * handles, which ends a Node process. So bodies wait for `room`, and one that breaks ends as if it were complete; that it
 * was not is noted here. Other agents are left as they are.
 */
export function watchFetch(agent: AgUiAgent, room: () => Promise<void> | undefined): Transport {
  const transport: Transport = { isAnswered: false, contentType: undefined, broken: undefined }
  const given: unknown = Reflect.get(agent, 'fetch')
  if (typeof given !== 'function' || typeof Reflect.get(agent, 'url') !== 'string') {
    transport.isAnswered = true
    return transport
  }
  const watched: Fetch = async (url, init) => {
    const response = await (given as Fetch).call(agent, url, init)
    transport.isAnswered = true
    transport.contentType = response.headers.get('content-type') ?? ''
    const { body, ok } = response
    if (!ok || !(body instanceof ReadableStream)) return response
    return new Response(watchedBody(body, transport, room), response)
  }
  Reflect.set(agent, 'fetch', watched)
  return transport
}

function watchedBody(
  body: ReadableStream<Uint8Array>,
  transport: Transport,
  room: () => Promise<void> | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      await room()
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
      // A body that has broken off cannot be cancelled any more, and need not be.
      await reader.cancel(reason).catch(() => undefined)
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

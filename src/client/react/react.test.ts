import { Window, type HTMLElement } from 'happy-dom'
import {
  act,
  createElement,
  startTransition,
  StrictMode,
  useLayoutEffect,
  useState,
  version,
  type ReactElement,
} from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ThreadSnapshot } from '../contract.js'
import { createClient } from '../index.js'
import { useThread, useThreadSnapshot } from './index.js'

const encoder = new TextEncoder()
const threadAtRest = (text: string): string =>
  [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'CUSTOM', name: 'millrace.thread', value: { version: 3, pendingToolCalls: [] } },
    { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'user', content: text }] },
    { type: 'STATE_SNAPSHOT', snapshot: {} },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
  ]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')

/** A server whose streams the test writes. */
function scriptedServer() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = []
  let closed = 0
  const fetch = ((_: string, init: RequestInit) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        streams.push(controller)
        init.signal?.addEventListener('abort', () => {
          closed++
          controller.error(new Error('aborted'))
        })
      },
    })
    return Promise.resolve(new Response(body))
  }) as typeof globalThis.fetch
  const write = (text: string): void => {
    for (const stream of streams.slice(-1)) stream.enqueue(encoder.encode(threadAtRest(text)))
  }
  return { fetch, write, streams, closed: () => closed }
}

describe('useThread', () => {
  const page = globalThis as { window?: unknown; document?: unknown; IS_REACT_ACT_ENVIRONMENT?: boolean }
  let host: HTMLElement
  beforeEach(() => {
    const window = new Window()
    Object.assign(page, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: true })
    host = window.document.createElement('div')
  })
  afterEach(() => {
    delete page.window
    delete page.document
    delete page.IS_REACT_ACT_ENVIRONMENT
  })

  function Chat({
    client,
    seen,
  }: {
    client: ReturnType<typeof createClient>
    seen?: ThreadSnapshot[]
  }): ReactElement {
    const snapshot = useThread(client, 'agent', { threadId: 't' })
    seen?.push(snapshot)
    const again = useThreadSnapshot(snapshot.thread)
    if (again.messages !== snapshot.messages) throw new Error('two components see two threads')
    return createElement(
      'p',
      null,
      `${snapshot.status}: ${snapshot.messages.map(({ content }) => JSON.stringify(content)).join()}`,
    )
  }

  /** Lets streams and timers have their turn, until the page shows the text. */
  async function shows(text: string): Promise<void> {
    for (let turn = 0; turn < 200 && host.textContent !== text; turn++)
      await act(() => new Promise((resolve) => setTimeout(resolve, 0)))
    expect(host.textContent).toBe(text)
  }

  /** Waits until the client has asked for the thread. */
  async function opened({ streams }: ReturnType<typeof scriptedServer>): Promise<void> {
    for (let turn = 0; turn < 200 && streams.length === 0; turn++)
      await act(() => new Promise((resolve) => setTimeout(resolve, 0)))
  }

  it('follows a thread in StrictMode with one stream, and ends it when the component goes', async () => {
    const server = scriptedServer()
    const client = createClient({ url: 'http://localhost', fetch: server.fetch })
    const root = createRoot(host)
    act(() => {
      root.render(createElement(StrictMode, null, createElement(Chat, { client })))
    })
    await shows('loading: ')
    await opened(server)
    server.write('Hello')
    await shows('idle: "Hello"')
    server.write('Hello again')
    await shows('idle: "Hello again"')
    expect(server.streams).toHaveLength(1)
    act(() => {
      root.unmount()
    })
    for (let turn = 0; turn < 200 && server.closed() === 0; turn++)
      await new Promise((resolve) => setTimeout(resolve, 0))
    expect(server.closed()).toBe(1)
  })

  it('renders only when something has changed', async () => {
    const server = scriptedServer()
    const seen: ThreadSnapshot[] = []
    const client = createClient({ url: 'http://localhost', fetch: server.fetch })
    const root = createRoot(host)
    act(() => {
      root.render(createElement(Chat, { client, seen }))
    })
    await opened(server)
    server.write('Hello')
    await shows('idle: "Hello"')
    const renders = seen.length
    server.write('Hello')
    for (let turn = 0; turn < 5; turn++) await act(() => new Promise((resolve) => setTimeout(resolve, 0)))
    expect(seen).toHaveLength(renders)
    act(() => {
      root.unmount()
    })
  })

  it('renders on the server without asking for anything', () => {
    const server = scriptedServer()
    const client = createClient({ url: 'http://localhost', fetch: server.fetch })
    expect(renderToString(createElement(Chat, { client }))).toBe('<p>loading: </p>')
    expect(server.streams).toHaveLength(0)
  })

  it('is tested on the React that it says', () => {
    expect(version.split('.')[0]).toBe(process.env.REACT_MAJOR)
  })

  it('takes over what the server has rendered, and follows the thread from there', async () => {
    const server = scriptedServer()
    const client = createClient({ url: 'http://localhost', fetch: server.fetch })
    const element = createElement(StrictMode, null, createElement(Chat, { client }))
    host.innerHTML = renderToString(element)
    const rendered = host.firstElementChild
    const recovered: unknown[] = []
    let unmount = (): void => undefined
    act(() => {
      const root = hydrateRoot(host, element, {
        onRecoverableError: (error) => recovered.push(error),
      })
      unmount = () => root.unmount()
    })
    await opened(server)
    server.write('Hello')
    await shows('idle: "Hello"')
    // The element of the server is still there: nothing was rendered anew.
    expect(host.firstElementChild).toBe(rendered)
    expect(recovered).toEqual([])
    act(unmount)
  })

  it('shows one thread in all components when it changes in the middle of a transition', async () => {
    const server = scriptedServer()
    const client = createClient({ url: 'http://localhost', fetch: server.fetch })
    const thread = client.thread('agent', 't')
    const leave = thread.subscribe(() => undefined)
    const turn = () => new Promise((resolve) => setTimeout(resolve, 0))
    const hasText = async (text: string) => {
      for (let count = 0; count < 200 && thread.getSnapshot().messages[0]?.content !== text; count++)
        await turn()
    }
    for (let count = 0; count < 200 && server.streams.length === 0; count++) await turn()
    server.write('First')
    await hasText('First')

    const rendered: unknown[] = []
    const commits: string[][] = []
    function Row(): ReactElement {
      const { content } = useThreadSnapshot(thread).messages[0] ?? {}
      rendered.push(content)
      return createElement('p', null, JSON.stringify(content))
    }
    let show: () => void = () => undefined
    function Rows(): ReactElement {
      const [count, setCount] = useState(0)
      show = () => startTransition(() => setCount(20))
      useLayoutEffect(() => {
        commits.push([...new Set([...host.children].map(({ textContent }) => textContent))])
      })
      return createElement(
        'div',
        null,
        ...Array.from({ length: count }, (_, key) => createElement(Row, { key })),
      )
    }
    // React looks at the clock and lets others work after a few components.
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.5))
    page.IS_REACT_ACT_ENVIRONMENT = false
    const root = createRoot(host)
    root.render(createElement(Rows))
    while (commits.length === 0) await turn()
    host = host.firstElementChild as unknown as HTMLElement
    show()
    while (rendered.length < 3) await new Promise((resolve) => setImmediate(resolve))
    expect(rendered.length).toBeLessThan(20)
    server.write('Second')
    await hasText('Second')
    while (host.children.length < 20) await turn()
    vi.restoreAllMocks()
    expect(rendered.slice(0, 3)).toEqual(['First', 'First', 'First'])
    expect(commits.filter((texts) => texts.length > 1)).toEqual([])
    expect(commits.at(-1)).toEqual(['"Second"'])
    page.IS_REACT_ACT_ENVIRONMENT = true
    act(() => {
      root.unmount()
    })
    leave()
    // What React has put off needs the page.
    for (let count = 0; count < 5; count++) await turn()
  })
})

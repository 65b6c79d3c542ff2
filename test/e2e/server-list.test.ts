import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { deferred } from '../support/run-agent.js'
import { ask, inputOf, serving, user } from './support-server.js'
import { openStream, type RawStream } from './support-stream.js'

interface ListPage {
  readonly threads: readonly { readonly threadId: string; readonly status: string }[]
  readonly nextCursor?: string
}

/** A server with threads at rest, and others in their first run until they are let go. */
async function serveThreads(atRest: readonly string[], begun: readonly string[]) {
  const letGo = deferred()
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.content === 'Wait.' ? ['One', { wait: () => letGo.promise }] : 'Done.',
  )
  const { url } = await serving({ agents: [defineAgent({ name: 'talker', model })] })
  const start = (threadId: string, content: string) =>
    openStream(`${url}/run`, { body: inputOf({ threadId, messages: [user('u1', content)] }) })
  for (const name of atRest) await (await start(name, 'Hello.')).whole()
  const streams: RawStream[] = []
  for (const name of begun) {
    const stream = await start(name, 'Wait.')
    await stream.until(({ type }) => type === 'RUN_STARTED')
    streams.push(stream)
  }
  const page = async (query: string) => (await ask(`${url}/thread/list?${query}`)).body as ListPage
  const pages = async (limit: number) => {
    const found: string[][] = []
    let cursor = ''
    for (;;) {
      const { threads, nextCursor } = await page(`limit=${limit}${cursor}`)
      found.push(threads.map(({ threadId }) => threadId))
      if (nextCursor === undefined) return found
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`
    }
  }
  const end = async () => {
    letGo.resolve()
    for (const stream of streams) await stream.whole()
  }
  return { url, page, pages, end }
}

describe('a list of threads of which some are in their first run', () => {
  const atRest = ['r1', 'r2', 'r3']
  const begun = ['b1', 'b2', 'b3', 'b4', 'b5']

  it.each([1, 2, 3, 4, 5, 6, 8, 50])('has each once, and no more than %i on a page', async (limit) => {
    const { pages } = await serveThreads(atRest, begun)
    const found = await pages(limit)
    expect(found.flat().slice(0, 5).toSorted()).toEqual(begun)
    expect(found.flat().slice(5).toSorted()).toEqual(atRest)
    for (const threads of found.slice(0, -1)) expect(threads).toHaveLength(limit)
    expect(found.at(-1)?.length).toBeLessThanOrEqual(limit)
  })

  it('has those that end between two pages too', async () => {
    const { page, end } = await serveThreads(atRest, begun)
    const first = await page('limit=2')
    await end()
    const rest = await page(`limit=50&cursor=${encodeURIComponent(first.nextCursor ?? '')}`)
    const all = new Set([...first.threads, ...rest.threads].map(({ threadId }) => threadId))
    expect([...all].toSorted()).toEqual([...begun, ...atRest])
  })

  it('takes no cursor that it has not given', async () => {
    const { url } = await serveThreads(atRest, [])
    for (const cursor of ['begun.', 'begun.x.t', 'begun.1', '.']) {
      const answer = await ask(`${url}/thread/list?cursor=${cursor}`)
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
    }
  })
})

import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { CorsOptions } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { inputOf, serving, user } from './support-server.js'
import { decodeSse, type AgUiEvent } from '../../src/protocol/index.js'

const page = 'https://app.example.com'

async function served(cors?: CorsOptions): Promise<string> {
  const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })
  const { url } = await serving({ agents: [agent], ...(cors && { cors }) })
  return url
}

function preflight(url: string, { origin = page, method = 'POST', headers = 'content-type' } = {}) {
  const asked = { 'access-control-request-method': method, 'access-control-request-headers': headers }
  return fetch(url, { method: 'OPTIONS', headers: { origin, ...asked } })
}

const listOf = (text: string | null): string[] => (text ?? '').toLowerCase().split(/,\s*/)

describe('a preflight', () => {
  it.each([
    ['POST', '/run'],
    ['POST', '/agents/talker/run'],
    ['PATCH', '/state/t'],
    ['DELETE', '/thread/t'],
  ])('allows %s %s, with the headers of clients', async (method, path) => {
    const url = await served({ origins: [page] })
    const headers = 'authorization,content-type,last-event-id,x-request-id'
    const response = await preflight(url + path, { method, headers })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(page)
    expect(listOf(response.headers.get('access-control-allow-methods'))).toContain(method.toLowerCase())
    expect(listOf(response.headers.get('access-control-allow-headers'))).toEqual(headers.split(','))
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect(listOf(response.headers.get('vary'))).toContain('origin')
  })

  it('allows nothing to a page of another origin', async () => {
    const url = await served({ origins: [page], credentials: true })
    const response = await preflight(`${url}/run`, { origin: 'https://evil.example.com' })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('allows all pages with a star, never with credentials', async () => {
    const { headers } = await preflight(`${await served({ origins: '*' })}/run`)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    await expect(served({ origins: '*', credentials: true })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('cors.credentials') as string,
    })
  })

  it('is refused without the option', async () => {
    const response = await preflight(`${await served()}/run`)
    expect(response.status).toBe(405)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('credentials', () => {
  it('are allowed for named origins, on preflights, streams and refusals', async () => {
    const url = await served({ origins: [page], credentials: true })
    const body = inputOf({ messages: [user('u1', 'Hi.')] })
    const headers = { origin: page, 'content-type': 'application/json' }
    const post = (text: string) => fetch(`${url}/run`, { method: 'POST', headers, body: text })
    const stream = await post(JSON.stringify(body))
    const responses = [
      await preflight(`${url}/run`),
      stream,
      await post('{'),
      await fetch(`${url}/x`, { headers }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([204, 200, 400, 404])
    for (const response of responses) {
      expect(response.headers.get('access-control-allow-origin')).toBe(page)
      expect(response.headers.get('access-control-allow-credentials')).toBe('true')
    }
    // Pages may read when to come again.
    for (const response of responses.slice(1))
      expect(listOf(response.headers.get('access-control-expose-headers'))).toEqual(['retry-after'])
    assertValidStream(await eventsIn(stream), { input: body })
  })
})

async function eventsIn({ body }: Response): Promise<AgUiEvent[]> {
  const events: AgUiEvent[] = []
  for await (const frame of decodeSse(body as unknown as AsyncIterable<Uint8Array>)) {
    if (frame.kind === 'malformed') throw frame.error
    events.push(frame.event as AgUiEvent)
  }
  return events
}

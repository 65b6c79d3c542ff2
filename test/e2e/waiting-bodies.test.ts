import { expect, it } from 'vitest'
import { startingChildren } from './support-child.js'
import { ask, inputOf, user } from './support-server.js'

const MB = 1024 * 1024

it('requests that wait for their thread do not keep their bodies', { timeout: 60_000 }, async () => {
  const child = await startingChildren('serve-waiting.mjs')()
  const memory = async () => {
    const { body } = await ask(`${child.url}/memory`)
    return (body as { readonly bytes: number }).bytes
  }
  const gone = new AbortController()
  /** A body of some megabytes that says little: the rest is white space. */
  const post = async (runId: string, megabytes: number) => {
    const json = JSON.stringify(inputOf({ runId, messages: [user(runId, 'Hi.')] }))
    const response = await fetch(child.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: json + ' '.repeat(megabytes * MB),
      signal: gone.signal,
    })
    expect(response.status).toBe(200)
  }
  await post('run-0', 4)
  const before = await memory()
  for (let n = 1; n <= 20; n++) await post(`run-${n}`, 4)
  // Kept bodies would be 80. Some of the last may not be collected yet.
  expect(((await memory()) - before) / MB).toBeLessThan(40)
  gone.abort()
})

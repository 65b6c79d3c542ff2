import { expect, it } from 'vitest'
import { startingChildren } from './support-child.js'
import { inputOf, user } from './support-server.js'
import { runWhole, textIn } from './support-stream.js'

// The server runs in a process of its own: a check that hangs would hang this one.
const start = startingChildren('serve-checking.mjs')
const messages = [user('u1', 'go')]
const evil = '^([a-z]+-?)*[a-z]+$'
const long = `${'a'.repeat(60)}!`

it('arguments that defeat patterns and formats are refused at once, and the model is told', async () => {
  const { url } = await start()
  const said = textIn(await runWhole(`${url}/agents/opens`, inputOf({ messages })))
  expect(said).toContain('$.page: does not have the format url')
  expect(said).toContain(`$.names["${long}"]: is not allowed as a name`)
  expect(said).toContain(`$["${long}"]: is not allowed`)
})

it('so are answers to interrupts, and a good one is taken after that', async () => {
  const { url } = await start()
  const answer = async (runId: string, payload: string) => {
    const resume = [{ interruptId, status: 'resolved', payload }]
    return runWhole(`${url}/agents/signs`, inputOf({ runId, messages, resume }))
  }
  const asked = await runWhole(`${url}/agents/signs`, inputOf({ messages }))
  const { outcome } = asked.at(-1) as unknown as { outcome: { interrupts: [{ id: string }] } }
  const [{ id: interruptId }] = outcome.interrupts
  expect((await answer('run-2', long)).at(-1)).toMatchObject({
    type: 'RUN_ERROR',
    code: 'INVALID_RESUME',
    message: `The answer to '${interruptId}' does not fit: $: does not match the pattern ${evil}`,
  })
  expect(textIn(await answer('run-3', 'ada-b'))).toBe('ada-b')
})

it('so are structured outputs, and the model tries again', async () => {
  const { url } = await start()
  const events = await runWhole(`${url}/agents/writes`, inputOf({ messages }))
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: 'abc' })
})

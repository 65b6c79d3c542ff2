import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { inspectorAgents, createGate } from './agents-inspector.js'
import { copiedBy } from './clipboard.js'
import { stream, useForeignServer } from './foreign-server.js'
import { useConsole } from './rig.js'

const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

const foreign = useForeignServer({
  '/faulty': (response, { threadId, runId }) =>
    stream(response, [
      ': hello\n\n',
      `event: message\r\ndata: ${JSON.stringify({ type: 'RUN_STARTED', threadId, runId })}\r\n\r\n`,
      frame({ type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }),
      // In two lines of data, and cut in the middle of a chunk.
      'data: {"type":"TEXT_MESSAGE_CONTENT",\nda',
      'ta: "messageId":"m","delta":"Grüße"}\n\n',
      frame({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'nobody', delta: 'lost' }),
      'data: {"type":"TEXT_MESS\n\n',
      frame({ type: 'TEXT_MESSAGE_END', messageId: 'm' }),
      frame({ type: 'RUN_FINISHED', threadId, runId: 'another' }),
    ]),
  '/older': (response, { threadId, runId }) =>
    stream(response, [
      frame({ type: 'RUN_STARTED', threadId, runId, rawEvent: null }),
      frame({ type: 'THINKING_START' }),
      frame({ type: 'THINKING_TEXT_MESSAGE_START' }),
      frame({ type: 'THINKING_TEXT_MESSAGE_CONTENT', delta: 'Let me see' }),
      frame({ type: 'THINKING_TEXT_MESSAGE_END' }),
      frame({ type: 'THINKING_END' }),
      frame({ type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'assistant', delta: 'Old ' }),
      frame({ type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'but good' }),
      frame({ type: 'RUN_FINISHED', threadId, runId }),
    ]),
  '/endless': (response, { threadId, runId }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame({ type: 'RUN_STARTED', threadId, runId }))
  },
  '/json': (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"answer":42}'),
  '/refuses': (response) => void response.writeHead(422).end('field required: forwardedProps'),
  '/closed': (response) => void response.writeHead(200).end(),
})

const rig = useConsole(() => ({
  agents: inspectorAgents(createGate),
  console: { foreign: true },
}))

async function send(path: string, { message = 'Hi', headers = '', isOlder = false } = {}): Promise<Page> {
  rig.allow(new RegExp(`request to ${foreign.url}${path}$`))
  const page = await rig.open('#/inspect')
  await page.getByLabel('Address').fill(foreign.url + path)
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(message)
  await page.getByText('Headers and request').click()
  if (headers !== '') await page.getByLabel('Headers, one on each line').fill(headers)
  if (isOlder) await page.getByLabel('Version of AG-UI').selectOption('older')
  await page.getByRole('button', { name: 'Send and inspect' }).click()
  return page
}

const row = (page: Page, number: number) => page.locator('.event-row').nth(number - 1)
const verdict = (page: Page) => page.getByRole('region', { name: 'Verdict' })

describe('a server that is not ours', () => {
  it('is judged event by event, and its frames are kept as they came', async () => {
    const page = await send('/faulty', { headers: 'authorization: Bearer abc\nx-team: red' })
    await page
      .locator('.run-head')
      .getByText(/\d faults?/)
      .waitFor()
    await row(page, 4).getByText('fault').waitFor()
    await row(page, 4).click()
    await verdict(page).getByText('client-verify').waitFor()
    await verdict(page).getByText("there is no message 'nobody'").waitFor()

    await row(page, 5).getByText('not JSON').waitFor()
    await row(page, 5).click()
    await verdict(page).getByText('event-object').waitFor()
    const raw = page.getByRole('region', { name: 'Frame' })
    await raw.getByText('data: {"type":"TEXT_MESS').waitFor()

    await row(page, 3).click()
    await raw.getByText(/TEXT_MESSAGE_CONTENT",\s+data: "messageId":"m","delta":"Grüße"/).waitFor()
    await verdict(page).getByText('valid').waitFor()

    await row(page, 7).click()
    await verdict(page).getByText('run-id', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Client' }).click()
    await page.getByRole('region', { name: 'Messages' }).getByText('Grüße').waitFor()

    const curl = await copiedBy(page, async () => {
      await page.getByRole('button', { name: 'More', exact: true }).last().click()
      await page.getByRole('button', { name: 'Copy as curl' }).click()
    })
    expect(curl).toContain(`'x-team: red'`)
    expect(curl).not.toContain('abc')
  })

  it('may speak a dialect before 1.0', async () => {
    const page = await send('/older', { isOlder: true })
    await page.locator('.run-head').getByText('completed').waitFor()
    expect(foreign.bodies.at(-1)).not.toHaveProperty('protocolVersion')
    expect(foreign.bodies.at(-1)).toMatchObject({
      state: {},
      forwardedProps: {},
      messages: [{ content: 'Hi' }],
    })
    await page.getByRole('tab', { name: 'Client' }).click()
    await page.getByRole('region', { name: 'Messages' }).getByText('Old but good').waitFor()
    await page.getByRole('region', { name: 'Messages' }).getByText('Let me see').waitFor()
    expect(await page.locator('.waterfall-bar[data-kind=message]').count()).toBe(1)
  })

  it('is asked again from an event, and the answers stand side by side', async () => {
    const page = await send('/older')
    await page.locator('.run-head').getByText('completed').waitFor()
    await page.getByRole('button', { name: 'Edit and rerun' }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Message', exact: true }).fill('Hi again')
    const first = page.url()
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click()
    await page.waitForURL((url) => url.href !== first)
    await page.locator('.run-head').getByText('completed').waitFor()
    expect(foreign.bodies.at(-1)).toMatchObject({ messages: [{ content: 'Hi again' }] })
    await page.getByRole('button', { name: 'More', exact: true }).last().click()
    await page.getByRole('button', { name: 'Compare with …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: /older/ }).click()
    await page.getByText('Both runs tell the same.').waitFor()
  })

  it('is left when the person stops', async () => {
    const page = await send('/endless')
    await row(page, 1).getByText('RUN_STARTED').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.run-head').getByText('cancelled').waitFor()
  })

  it.each([
    ['/json', 'The answer is no event stream', 'content-type: application/json', /^$/],
    ['/refuses', 'The server refuses the request.', 'field required: forwardedProps', /422/],
    ['/closed', 'it does not allow this page (CORS)', 'Failed to fetch', /CORS|ERR_FAILED|Access/],
  ])('that answers %s wrongly is told of: %s', async (path, words, detail, fault) => {
    rig.allow(fault)
    const page = await send(path)
    await page.getByRole('alert').getByText(words).waitFor()
    await page.getByRole('alert').getByText(detail).waitFor()
  })

  it('is asked for again after a reload, with its address filled in', async () => {
    const page = await send('/older')
    await page.locator('.run-head').getByText('completed').waitFor()
    await page.reload()
    await page.getByLabel('Address').waitFor()
    expect(await page.getByLabel('Address').inputValue()).toBe(`${foreign.url}/older`)
  })
})

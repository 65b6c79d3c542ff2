import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useAloneRig, type AloneRig } from './alone-rig.js'
import { expectConversation, expectList, patience, say, type FrontEnd } from './front-end.js'
import {
  testAskAgain,
  testChat,
  testClientTools,
  testInterrupts,
  testLanes,
  testReconnect,
  testReload,
  testState,
} from './suite.js'

const copilotKit: FrontEnd = {
  name: 'copilotkit-alone',
  page: 'copilotkit-alone',
  input: (page) => page.getByTestId('copilot-chat-textarea'),
  // The same button stops while a run goes on: also for the moment that a tool has which ignores that.
  send: (page) =>
    page.getByTestId('copilot-send-button').filter({ has: page.locator('svg.lucide-arrow-up') }),
  stop: (page) => page.getByTestId('copilot-send-button'),
  message: '.copilotKitMessage',
  user: '.copilotKitUserMessage',
  greeting: [],
}

/** The first generation of hooks, with the chat of `@copilotkit/react-ui`. */
const firstGeneration: FrontEnd = {
  ...copilotKit,
  send: (page) => page.getByRole('button', { name: 'Send' }),
  stop: (page) => page.getByRole('button', { name: 'Stop' }),
  greeting: ['assistant: Hello, I am the page.'],
}

function testCommon(frontEnd: FrontEnd, rig: AloneRig): void {
  const common = {
    ...rig,
    restartRuntime: () => Promise.reject(new Error('There is no runtime.')),
    // Stop is a route here: it leaves no run without a client, and none that needs time.
    abandoned: () => 1,
    passAbandonedTime: () => undefined,
  }
  testChat(frontEnd, common)
  testClientTools(frontEnd, common)
  testLanes(frontEnd, common)
  testState(frontEnd, common)
  testInterrupts(frontEnd, common)
  testReload(frontEnd, common)
  testReconnect(frontEnd, common)
  testAskAgain(frontEnd, common)
}

function namesIn(page: Page): Promise<string[]> {
  return page.getByTestId('threads').locator('li span').allTextContents()
}

function threadsOf(rig: AloneRig): void {
  it('lists threads, renames, archives, takes back and deletes them', async () => {
    const threads = { threads: 'true', archived: 'true' }
    const page = await rig.open('guide', threads)
    await say(copilotKit, page, 'the first.')
    await expectConversation(copilotKit, page, ['user: the first.', 'assistant: Here is the first.'])
    await page.getByRole('button', { name: 'Refresh' }).click()
    const item = page.locator(`[data-thread="${rig.thread()}"]`)
    await item.getByText('the first.').waitFor()
    await item.getByRole('button', { name: 'Rename' }).click()
    await item.getByText('Renamed').waitFor()
    await item.getByRole('button', { name: 'Archive' }).click()
    await item.getByText('(archived)').waitFor()
    const other = await rig.open('guide', { threads: 'true', thread: 'another' })
    await other.getByRole('button', { name: 'Refresh' }).click()
    await expect.poll(() => namesIn(other), patience).not.toContain('Renamed')
    await item.getByRole('button', { name: 'Take back' }).click()
    await item.getByText('(archived)').waitFor({ state: 'detached' })
    // What the page shows at once is what the server has.
    await expect
      .poll(async () => {
        await other.getByRole('button', { name: 'Refresh' }).click()
        return namesIn(other)
      }, patience)
      .toContain('Renamed')
    await item.getByRole('button', { name: 'Delete' }).click()
    await item.waitFor({ state: 'detached' })
    await expect
      .poll(async () => {
        await other.getByRole('button', { name: 'Refresh' }).click()
        return namesIn(other)
      }, patience)
      .not.toContain('Renamed')
    expect(await page.getByTestId('threads-error').textContent()).toBe('')
  })

  it('opens another thread of the list, with all that was in it', async () => {
    const first = await rig.open('weather', { thread: `${rig.thread()}-first` })
    await say(copilotKit, first, 'Weather?')
    await expectConversation(copilotKit, first, ['user: Weather?', 'assistant: It rains in Oslo.'])
    const page = await rig.open('weather', { threads: 'true' })
    await page.locator(`[data-thread="${rig.thread()}-first"]`).getByRole('button', { name: 'Open' }).click()
    await expectConversation(copilotKit, page, ['user: Weather?', 'assistant: It rains in Oslo.'])
    const drawn = page.locator('[data-tool=get_weather]')
    await expect.poll(() => drawn.allTextContents(), patience).toEqual([expect.stringContaining('rain')])
  })
}

function suggestionsOf(rig: AloneRig): void {
  it('suggests what to say after an answer, and leaves no thread of it', async () => {
    const page = await rig.open('guide', { suggest: 'true', threads: 'true' })
    await say(copilotKit, page, 'Norway.')
    await expectConversation(copilotKit, page, ['user: Norway.', 'assistant: Here is Norway.'])
    const pills = page.getByTestId('copilot-suggestion')
    await expect.poll(() => pills.allTextContents(), patience).toEqual(['Oslo', 'Bergen'])
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator(`[data-thread="${rig.thread()}"]`).waitFor()
    expect((await namesIn(page)).filter((name) => name.startsWith('Suggest'))).toEqual([])
    await pills.first().click()
    await expectConversation(copilotKit, page, [
      ...['user: Norway.', 'assistant: Here is Norway.'],
      ...['user: What of Oslo?', 'assistant: Here is What of Oslo?'],
    ])
  })
}

describe('over the routes of agents and threads', () => {
  const rig = useAloneRig('copilotkit-alone')
  testCommon(copilotKit, rig)
  threadsOf(rig)
  suggestionsOf(rig)

  it('draws the tools of the server again after a reload', async () => {
    const page = await rig.open('weather')
    await say(copilotKit, page, 'Weather?')
    await expectConversation(copilotKit, page, ['user: Weather?', 'assistant: It rains in Oslo.'])
    await rig.reload(page)
    await expectConversation(copilotKit, page, ['user: Weather?', 'assistant: It rains in Oslo.'])
    const calls = page.locator('[data-tool=get_weather]')
    await expect.poll(() => calls.allTextContents(), patience).toEqual([expect.stringContaining('complete')])
  })

  it('lets a person answer with useHumanInTheLoop, also after a reload', async () => {
    const page = await rig.open('usher')
    await say(copilotKit, page, 'A seat.')
    await page.getByTestId('seats').getByRole('button', { name: 'B2' }).waitFor()
    await rig.reload(page)
    await page.getByTestId('seats').getByRole('button', { name: 'B2' }).click()
    await expectConversation(copilotKit, page, ['user: A seat.', 'assistant: You sit on B2.'])
    expect(await page.getByTestId('seats').allTextContents()).toEqual(['Picked: B2'])
  })

  it('asks several questions at once, and goes on when all are answered, also after a reload', async () => {
    const page = await rig.open('notary')
    await say(copilotKit, page, 'Sell.')
    const asked = page.getByTestId('interrupt')
    await asked.getByText('Sell the boat?').waitFor()
    await rig.reload(page)
    const house = asked.locator('fieldset', { hasText: 'Sell the house?' })
    await house.getByRole('button', { name: 'Approve' }).click()
    const boat = asked.locator('fieldset', { hasText: 'Sell the boat?' })
    await boat.getByRole('button', { name: 'Cancel' }).click()
    await expectConversation(copilotKit, page, ['user: Sell.', 'assistant: house: sold. boat: kept.'])
    await expect.poll(() => asked.count(), patience).toBe(0)
  })

  it('shows a run in a second tab as it goes on, which can stop it', async () => {
    const page = await rig.open('chat')
    await say(copilotKit, page, 'Count.')
    await expectConversation(copilotKit, page, ['user: Count.', 'assistant: One,'])
    const second = await rig.open('chat', { isRunning: 'true' })
    await expectConversation(copilotKit, second, ['user: Count.', 'assistant: One,'])
    rig.countOn()
    for (const tab of [page, second])
      await expectConversation(copilotKit, tab, ['user: Count.', 'assistant: One, two,'])
    await copilotKit.stop(second).click()
    await say(copilotKit, page, 'Hi')
    await expectConversation(copilotKit, page, [
      ...['user: Count.', 'assistant: One, two,'],
      ...['user: Hi', 'assistant: You said: Hi'],
    ])
  })

  it('has the conversation after the server was started anew', async () => {
    const page = await rig.open('shopper')
    await say(copilotKit, page, 'Buy milk.')
    await expectConversation(copilotKit, page, ['user: Buy milk.', 'assistant: Bought milk.'])
    await rig.restartServer()
    await rig.reload(page)
    await expectConversation(copilotKit, page, ['user: Buy milk.', 'assistant: Bought milk.'])
    await expectList(page, ['milk'])
    await say(copilotKit, page, 'Buy bread.')
    await expectList(page, ['milk', 'bread'])
  })

  it('asks again after the server was started anew, and goes on with the answer', async () => {
    const page = await rig.open('clerk')
    await say(copilotKit, page, 'Book.')
    const asked = page.getByTestId('interrupt')
    await asked.getByText('Book a table?').waitFor()
    await rig.restartServer()
    await asked.getByRole('button', { name: 'Approve' }).click()
    await expectConversation(copilotKit, page, ['user: Book.', 'assistant: The table is booked.'])
  })

  it('shows what there was of a run that ended with its server', async () => {
    rig.expectReports(/shutting down|Failed to fetch|ERR_|network error|RUN_ERROR|SERVER_CLOSING/i)
    const page = await rig.open('chat')
    await say(copilotKit, page, 'Count.')
    await expectConversation(copilotKit, page, ['user: Count.', 'assistant: One,'])
    await rig.restartServer()
    await rig.reload(page)
    await expectConversation(copilotKit, page, ['user: Count.', 'assistant: One,'])
    await say(copilotKit, page, 'Hi')
    await expectConversation(copilotKit, page, [
      ...['user: Count.', 'assistant: One,'],
      ...['user: Hi', 'assistant: You said: Hi'],
    ])
  })

  it('sends an image, a sound and a document to the model, and shows them again after a reload', async () => {
    const page = await rig.open('guide')
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const files = [
      { name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') },
      { name: 'b.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('sound') },
      { name: 'c.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') },
    ]
    await page.locator('input[type=file]').setInputFiles(files)
    await page.getByTestId('copilot-attachment-queue').getByText('c.pdf').waitFor()
    await say(copilotKit, page, 'Look.')
    await expectConversationEnds(page, 'assistant: Here are 4 parts.')
    expect(rig.seen().at(-1)?.messages.at(-1)?.content).toMatchObject([
      { type: 'text', text: 'Look.' },
      { type: 'image', source: { type: 'data', value: pixel, mimeType: 'image/png' } },
      { type: 'audio', source: { type: 'data', value: toBase64('sound'), mimeType: 'audio/mpeg' } },
      {
        type: 'document',
        source: { type: 'data', value: toBase64('%PDF-1.4'), mimeType: 'application/pdf' },
      },
    ])
    await rig.reload(page)
    await expectConversationEnds(page, 'assistant: Here are 4 parts.')
    await page.locator('.copilotKitUserMessage img').waitFor()
  })
})

describe('over the single route', () => {
  const rig = useAloneRig('copilotkit-single', { query: { single: 'true' } })
  testCommon(copilotKit, rig)
  threadsOf(rig)
  suggestionsOf(rig)
})

describe('with the first generation of hooks', () => {
  const rig = useAloneRig('copilotkit-first', { page: 'copilotkit' })
  testCommon(firstGeneration, rig)
})

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

async function expectConversationEnds(page: Page, last: string): Promise<void> {
  const [, text = ''] = last.split(': ')
  const lastMessage = page.locator(copilotKit.message).last()
  await expect.poll(async () => (await lastMessage.textContent())?.trim(), patience).toBe(text)
}

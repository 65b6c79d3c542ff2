import { expect, it } from 'vitest'
import { expectConversation, expectList, patience, say, type FrontEnd } from './front-end.js'
import type { Rig } from './rig.js'

/** What every front end shows. */
export function testChat(frontEnd: FrontEnd, rig: Rig): void {
  it('shows text as it comes, and once', async () => {
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    rig.countOn()
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One, two,'])
    rig.countOn()
    const counted = ['user: Count.', 'assistant: One, two, three.']
    await expectConversation(frontEnd, page, counted)
    await say(frontEnd, page, 'Hi')
    await expectConversation(frontEnd, page, [...counted, 'user: Hi', 'assistant: You said: Hi'])
  })

  it('shows a tool call of the server, and the answer', async () => {
    const page = await rig.open('weather')
    await say(frontEnd, page, 'Weather?')
    await expectConversation(frontEnd, page, ['user: Weather?', 'assistant: It rains in Oslo.'])
    const calls = await page.locator('[data-tool=get_weather]').allTextContents()
    expect(calls).toEqual([expect.stringContaining('Oslo')])
    expect(await page.locator('[data-tool]').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('rain')]),
    )
  })

  it('stops when asked to, and takes the next message', async () => {
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    await frontEnd.stop(page).click()
    await say(frontEnd, page, 'Hi')
    await expectConversation(frontEnd, page, [
      'user: Count.',
      'assistant: One,',
      'user: Hi',
      'assistant: You said: Hi',
    ])
  })
}

/** For front ends with tools of their own. */
export function testClientTools(frontEnd: FrontEnd, rig: Rig): void {
  it('runs a tool of the page, and goes on with its result', async () => {
    const page = await rig.open('painter')
    await say(frontEnd, page, 'Paint.')
    await expectConversation(frontEnd, page, [
      'user: Paint.',
      'assistant: The page says: The page is pink now.',
    ])
    expect(await page.getByTestId('colour').textContent()).toBe('pink')
  })
}

/** For front ends that keep messages apart which are written at the same time. */
export function testLanes(frontEnd: FrontEnd, rig: Rig): void {
  it('keeps apart what agents say side by side', async () => {
    const page = await rig.open('duo')
    await say(frontEnd, page, 'Go.')
    // Two messages, or two paragraphs of one.
    const lines = async () =>
      (await page.locator(frontEnd.message).allInnerTexts()).join('\n').split(/\s*\n\s*/)
    await expect
      .poll(async () => (await lines()).filter((line) => /Left|Right/.test(line)), patience)
      .toEqual(['Left begins, Left goes on, Left ends.', 'Right begins, Right goes on, Right ends.'])
  })
}

/** For front ends with shared state. */
export function testState(frontEnd: FrontEnd, rig: Rig): void {
  it('shares a state that agent and page change by turns', async () => {
    const page = await rig.open('shopper')
    await say(frontEnd, page, 'Buy milk.')
    await expectConversation(frontEnd, page, ['user: Buy milk.', 'assistant: Bought milk.'])
    await expectList(page, ['milk'])
    await page.getByRole('button', { name: 'Add soap' }).click()
    await expectList(page, ['milk', 'soap'])
    await say(frontEnd, page, 'Buy bread.')
    await expectConversation(frontEnd, page, [
      ...['user: Buy milk.', 'assistant: Bought milk.'],
      ...['user: Buy bread.', 'assistant: Bought bread.'],
    ])
    await expectList(page, ['milk', 'soap', 'bread'])
    await page.reload()
    await expectList(page, ['milk', 'soap', 'bread'])
  })
}

/** For front ends with interrupts. */
export function testInterrupts(frontEnd: FrontEnd, rig: Rig): void {
  it('asks the person, and goes on with the answer', async () => {
    const page = await rig.open('clerk')
    await say(frontEnd, page, 'Book.')
    const asked = page.getByTestId('interrupt')
    await asked.getByText('Book a table?', { exact: true }).waitFor()
    await asked.getByRole('button', { name: 'Approve' }).click()
    await expectConversation(frontEnd, page, ['user: Book.', 'assistant: The table is booked.'])
    await expect.poll(() => asked.count()).toBe(0)
  })
}

/** For front ends that load a conversation again. */
export function testReload(frontEnd: FrontEnd, rig: Rig): void {
  it('shows the conversation after a reload, and continues it', async () => {
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Hi')
    const first = ['user: Hi', 'assistant: You said: Hi']
    await expectConversation(frontEnd, page, first)
    await page.reload()
    await expectConversation(frontEnd, page, first)
    await say(frontEnd, page, 'Again')
    await expectConversation(frontEnd, page, [...first, 'user: Again', 'assistant: You said: Again'])
  })
}

/** For front ends that follow a run which goes on, and interrupts that stay open. */
export function testReconnect(frontEnd: FrontEnd, rig: Rig): void {
  it('shows the rest of an answer after a reload', async () => {
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    await page.reload()
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    rig.countOn()
    rig.countOn()
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One, two, three.'])
  })

  it('asks again after a reload', async () => {
    const page = await rig.open('clerk')
    await say(frontEnd, page, 'Book.')
    const asked = page.getByTestId('interrupt')
    await asked.getByText('Book a table?', { exact: true }).waitFor()
    await page.reload()
    await asked.getByText('Book a table?', { exact: true }).waitFor()
    await asked.getByRole('button', { name: 'Approve' }).click()
    await expectConversation(frontEnd, page, ['user: Book.', 'assistant: The table is booked.'])
  })
}

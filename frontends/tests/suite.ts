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

  it('stops the model when asked to', async () => {
    const stops = rig.stops()
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    await frontEnd.stop(page).click()
    await expect.poll(() => rig.abandoned(), patience).toBe(1)
    rig.passAbandonedTime()
    await expect.poll(() => rig.stops(), patience).toBe(stops + 1)
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
  })

  it('stops, and takes the next message while a tool works that ignores it', async () => {
    const page = await rig.open('digger')
    await say(frontEnd, page, 'Dig.')
    await expectConversation(frontEnd, page, ['user: Dig.', 'assistant: Digging.'])
    await rig.digging()
    await frontEnd.stop(page).click()
    await say(frontEnd, page, 'Hi')
    await expectConversation(frontEnd, page, [
      ...['user: Dig.', 'assistant: Digging.'],
      ...['user: Hi', 'assistant: You said: Hi'],
    ])
  })

  it('stops when asked to, and takes the next message', async () => {
    const stops = rig.stops()
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    await frontEnd.stop(page).click()
    await say(frontEnd, page, 'Hi')
    await expect.poll(() => rig.stops(), patience).toBe(stops + 1)
    await expectConversation(frontEnd, page, [
      'user: Count.',
      'assistant: One,',
      'user: Hi',
      'assistant: You said: Hi',
    ])
  })
}

/** For front ends that can put messages into a conversation: what a new thread takes, and an existing one does not. */
export function testImport(frontEnd: FrontEnd, rig: Rig): void {
  const heard = (text: string) => `user "${text}"`

  it('keeps a conversation that the page brings, and the model hears it', async () => {
    const page = await rig.open('witness')
    await page.getByRole('button', { name: 'Import' }).click()
    const imported = ['user: Which plan?', 'assistant: The old plan.']
    await expectConversation(frontEnd, page, imported)
    await say(frontEnd, page, 'What was said?')
    const said = `${heard('Which plan?')}; assistant "The old plan."; ${heard('What was said?')}`
    const answered = [...imported, 'user: What was said?', `assistant: ${said}`]
    await expectConversation(frontEnd, page, answered)
    expect(await rig.stored('witness')).toMatchObject([
      { role: 'user', content: 'Which plan?' },
      { role: 'assistant', content: 'The old plan.', metadata: { millrace: { imported: true } } },
      { role: 'user', content: 'What was said?' },
      { role: 'assistant', content: said },
    ])
  })

  it('lets nobody speak in the name of the agent on an existing thread', async () => {
    const page = await rig.open('witness')
    await say(frontEnd, page, 'Hi')
    await page.getByText(heard('Hi')).waitFor()
    await page.getByRole('button', { name: 'Import' }).click()
    await page.getByText('The old plan.').waitFor()
    await say(frontEnd, page, 'What was said?')
    await page.getByText(heard('What was said?')).waitFor()
    const stored = await rig.stored('witness')
    expect(JSON.stringify(stored)).toContain('What was said?')
    expect(stored.filter(({ role }) => role === 'assistant').map(({ content }) => content)).not.toContain(
      'The old plan.',
    )
    expect(JSON.stringify(stored.at(-1)?.content)).not.toContain('The old plan.')
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

/** For front ends that follow a run which goes on. */
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
}

/** For front ends that learn of open interrupts when they load a conversation. */
export function testAskAgain(frontEnd: FrontEnd, rig: Rig): void {
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

import { expect, it } from 'vitest'
import type { ThreadList } from '../../src/client/index.js'
import { startExample, type Example } from './example.js'
import { patience } from './front-end.js'

const examples: readonly (Example & { readonly agents: string })[] = [
  { name: 'react', command: ['start'], agents: '/agents' },
  { name: 'assistant-ui', command: ['start'], agents: '/agents' },
  { name: 'nextjs', command: ['run', 'dev'], agents: '/api/agents' },
]

it.each(examples)(
  'the example $name starts with one command: chat, tool, approval, reload in mid-run, stop',
  async (example) => {
    const { url, page, reported } = await startExample(example)
    const send = page.getByRole('button', { name: 'Send' })
    const say = async (text: string) => {
      await page.getByRole('textbox').fill(text)
      await send.click()
    }
    await say('What is the weather in Oslo?')
    await page.locator('[data-tool=get_weather]').getByText('Oslo').first().waitFor(patience)
    await page.getByText('It is 7 °C and raining in Oslo.').waitFor(patience)
    await send.waitFor(patience)

    await say('Book a table for 2 guests.')
    const approval = page.getByTestId('approval')
    await approval.getByText('Book a table for 2?').waitFor(patience)
    await page.reload()
    await approval.getByRole('button', { name: 'Yes' }).click(patience)
    await expect.poll(() => approval.count(), patience).toBe(0)
    await page.getByTestId('assistant').getByText('The table is booked.').last().waitFor(patience)
    await send.waitFor(patience)

    await say('Tell me a story.')
    const story = page.getByText('Once a mill')
    await story.waitFor(patience)
    await page.reload()
    // More of it than there was, as it comes.
    await page.getByText('The miller dug').waitFor(patience)
    expect(await story.count()).toBe(1)
    await page.getByRole('button', { name: 'Stop' }).click()
    await send.waitFor(patience)
    // The other routes are where the page has the agent, for GET, PATCH and DELETE too.
    const at = `${url}${example.agents}/concierge/thread`
    const list = async () => ((await (await page.request.get(`${at}/list`)).json()) as ThreadList).threads
    // The model has stopped, and the page has what the server has, now and after a reload.
    await expect.poll(async () => (await list())[0]?.lastRun?.status, patience).toBe('cancelled')
    const told = (await story.textContent()) ?? ''
    expect(told).not.toContain('how wide the river was')
    await page.reload()
    await story.waitFor(patience)
    const kept = (await story.textContent()) ?? ''
    expect(kept.startsWith(told)).toBe(true)
    expect(kept).not.toContain('how wide the river was')

    const [thread] = await list()
    expect(thread?.title).toBe('What is the weather in Oslo?')
    const address = `${at}/${thread?.threadId ?? ''}`
    expect((await page.request.patch(address, { data: { title: 'Oslo' } })).status()).toBe(200)
    expect((await list()).map(({ title }) => title)).toEqual(['Oslo'])
    expect((await page.request.delete(address)).status()).toBe(200)
    expect(await list()).toEqual([])
    expect(reported()).toEqual([])
  },
)

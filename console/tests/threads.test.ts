import { describe, expect, it } from 'vitest'
import { createGates, createTalker, createWorker } from './agents-chat.js'
import { atRest, hasFocus, say } from './chat-actions.js'
import { phone, useConsole } from './rig.js'

describe('the list of threads', () => {
  const gates = createGates()
  const rig = useConsole(() => ({ agents: [createTalker(gates), createWorker(gates)] }))

  it('has titles, finds them, renames them and deletes them after a question', async () => {
    const page = await rig.open('#/chat/talker')
    const list = page.getByRole('region', { name: 'Threads' })
    await say(page, 'Trains to Bergen')
    await list.getByText('Trains to Bergen').waitFor()
    await page.getByRole('link', { name: 'New thread' }).click()
    await say(page, 'Cheese from Brie')
    await list.getByText('Cheese from Brie').waitFor()
    await list.getByRole('searchbox').fill('train')
    await list.getByText('Cheese from Brie').waitFor({ state: 'detached' })
    const item = list.locator('.thread-item', { hasText: 'Trains to Bergen' })
    await item.hover()
    await item.getByRole('button', { name: 'Rename Trains to Bergen' }).click()
    await list.getByRole('textbox', { name: 'Title' }).fill('By train')
    await page.keyboard.press('Enter')
    await list.getByText('By train').waitFor()
    await list.locator('.thread-item', { hasText: 'By train' }).hover()
    await list.getByRole('button', { name: 'Delete By train' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    const remove = list.getByRole('button', { name: 'Delete By train' })
    expect(await hasFocus(remove)).toBe(true)
    await remove.press('Enter')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await list.getByText('Nothing found.').waitFor()
    await list.getByRole('searchbox').fill('')
    await list.getByText('Cheese from Brie').waitFor()
  })

  it('loads more when there are many', async () => {
    for (let index = 0; index < 35; index++) await addThread(rig.url, `many-${index}`)
    const page = await rig.open('#/chat/worker')
    const items = page.locator('.thread-item')
    await expect.poll(() => items.count()).toBe(30)
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(() => items.count()).toBe(35)
  })

  it('shows what another tab does, and the thread in both', async () => {
    const page = await rig.open('#/chat/talker')
    const other = await page.context().newPage()
    await other.goto(page.url())
    await say(page, 'Written in the first tab')
    await other.locator('.thread-item', { hasText: 'Written in the first tab' }).click()
    await other.locator('.answer', { hasText: 'to: Written in the first tab' }).waitFor()
    await say(other, 'And this in the second')
    await page.locator('.answer', { hasText: 'to: And this in the second' }).waitFor()
    await atRest(page)
    await other.close()
  })

  it('is in a drawer on a phone, and suggestions start a thread', async () => {
    const page = await rig.open('#/chat/talker', { viewport: phone, hasTouch: true })
    await page.getByRole('button', { name: 'Tell me a joke' }).click()
    await page.locator('.answer', { hasText: 'to: Tell me a joke' }).waitFor()
    expect(page.url()).toMatch(/#\/chat\/talker\/[\w-]+$/)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('.thread-item', { hasText: 'Tell me a joke' }).first().waitFor()
  })

  it('changes with the agent', async () => {
    const page = await rig.open('#/chat/talker')
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('worker')
    await page.getByRole('heading', { name: 'worker' }).waitFor()
    expect(page.url()).toMatch(/#\/chat\/worker$/)
  })
})

async function addThread(url: string, threadId: string): Promise<void> {
  const response = await fetch(`${url}/agents/worker/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ threadId, runId: `run-${threadId}`, tools: [], context: [] },
      messages: [{ id: `m-${threadId}`, role: 'user', content: threadId }],
    }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

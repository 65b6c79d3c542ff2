import { describe, expect, it } from 'vitest'
import { createGates, createTalker } from './agents-chat.js'
import { answer, say } from './chat-actions.js'
import { useConsole } from './rig.js'

describe('branches', () => {
  const rig = useConsole(() => ({ agents: [createTalker(createGates())] }))

  it('are left by an edit, and one can go back and forth', async () => {
    const page = await rig.open('#/chat/talker')
    await say(page, 'Paris')
    await answer(page, 'to: Paris').waitFor()
    const message = page.getByRole('article', { name: 'You' })
    await message.hover()
    await message.getByRole('button', { name: 'Edit' }).click()
    const field = page.getByRole('textbox', { name: 'Edit' })
    expect(await field.inputValue()).toBe('Paris')
    await field.fill('Rome')
    await field.press('Enter')
    await answer(page, 'to: Rome').waitFor()
    const branches = page.getByRole('navigation', { name: 'Branches' })
    await branches.getByText('2 / 2').waitFor()
    await branches.getByRole('link', { name: 'Branch before' }).click()
    await answer(page, 'to: Paris').waitFor()
    await branches.getByText('1 / 2').waitFor()
    expect(await page.locator('.thread-item', { has: page.locator('.thread-branch') }).count()).toBe(1)
    await branches.getByRole('link', { name: 'Branch after' }).click()
    await answer(page, 'to: Rome').waitFor()
  })

  it('are left by another answer', async () => {
    const page = await rig.open('#/chat/talker')
    await say(page, 'Oslo')
    const first = answer(page, 'to: Oslo')
    await first.waitFor()
    const before = await first.locator('.markdown').textContent()
    await first.hover()
    await first.getByRole('button', { name: 'Answer again' }).click()
    await expect.poll(() => answer(page, 'to: Oslo').locator('.markdown').textContent()).not.toBe(before)
    await page.getByRole('navigation', { name: 'Branches' }).getByText('2 / 2').waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Branch before' }).click()
    await expect.poll(() => answer(page, 'to: Oslo').locator('.markdown').textContent()).toBe(before)
  })
})

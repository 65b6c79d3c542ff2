import { describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { helperAgent } from './agents-yard.js'
import { phone, useConsole } from './rig.js'

const rig = useConsole(() => ({ agents: [helperAgent()] }))

const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')

describe('the frame of the console', () => {
  test('names each page in the title', async () => {
    const page = await rig.open('#/chat/helper')
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    expect(await page.title()).toBe('helper · Chat · Millrace')
    for (const [link, title] of [
      ['Runs', 'Runs · Millrace'],
      ['Agents', 'Agents · Millrace'],
      ['Inspector', 'Inspector · Millrace'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: link }).click()
      await expect.poll(() => page.title()).toBe(title)
      expect(await page.getByRole('link', { name: link }).first().getAttribute('aria-current')).toBe('page')
    }
  })

  test('leads from its first Tab to the page, and stays where it is', async () => {
    const page = await rig.open('#/runs')
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the page')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(page.url()).toMatch(/#\/runs$/)
  })

  test('has keys for its pages, and lists them', async () => {
    const page = await rig.open('#/runs')
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    await help.getByLabel('Single keys work outside of text fields').uncheck()
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.keyboard.press('?')
    expect(await help.count()).toBe(0)
    expect(page.url()).toMatch(/#\/agents$/)
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await help.waitFor()
  })

  test('leaves the keys to the fields that are written in', async () => {
    const page = await rig.open('#/chat/helper')
    await page.getByRole('textbox', { name: 'Message' }).fill('')
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('go?')
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('go?')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('speaks Chinese, and remembers it and the colours', async () => {
    const page = await rig.open('#/runs')
    await page.getByLabel('Language').selectOption('zh')
    await page.getByRole('heading', { name: '运行', level: 1 }).waitFor()
    await page.getByLabel('配色').selectOption('dark')
    await page.reload()
    await page.getByRole('heading', { name: '运行', level: 1 }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('zh-CN')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  })

  test('has no buttons for a drawer on a wide screen', async () => {
    const page = await rig.open('#/runs')
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    expect(await page.getByRole('button', { name: 'Menu' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0)
  })
})

describe('on a phone', () => {
  test('the menu is a drawer that keeps the focus, and gives it back', async () => {
    const page = await rig.open('#/runs', { viewport: phone })
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
    expect(await page.getByRole('link', { name: 'Agents' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Agents' }).waitFor()
    expect(await focused(page)).toBe('Close')
    // Nothing behind the drawer can be reached, however often one goes on.
    for (let count = 0; count < 25; count++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate('document.activeElement.closest("main") === null')).toBe(true)
    }
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Agents' }).waitFor({ state: 'hidden' })
    expect(await focused(page)).toBe('Menu')
  })

  test('a link of the drawer leads to its page and closes it', async () => {
    const page = await rig.open('#/runs', { viewport: phone })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Runs' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.mouse.click(380, 400)
    await page.getByRole('link', { name: 'Runs' }).waitFor({ state: 'hidden' })
  })
})

import { describe, expect, it } from 'vitest'
import { createGates, createPlanner, createTalker, createTeam, createWorker } from './agents-chat.js'
import { answer, propertyOf, say } from './chat-actions.js'
import { phone, useConsole } from './rig.js'

const threeSecondsLater = 'Date.now = ((now) => () => now() + 3000)(Date.now)'

describe('the conversation', () => {
  const gates = createGates()
  const rig = useConsole(() => ({
    agents: [createTalker(gates), createWorker(gates), createTeam(gates), createPlanner(gates)],
  }))

  it('draws markdown and code, and copies the code', async () => {
    const page = await rig.open('#/chat/talker')
    await say(page, 'code')
    await page.locator('.answer strong', { hasText: 'all' }).waitFor()
    const block = page.locator('.code-block')
    expect(await block.locator('pre').textContent()).toContain('const answer: number = 42')
    expect(await block.locator('.sh__token--keyword').first().textContent()).toBe('const')
    await block.getByRole('button', { name: 'Copy code' }).click()
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('const answer: number = 42')
  })

  it('draws only the block anew that grows', async () => {
    gates.close('story')
    const page = await rig.open('#/chat/talker')
    await say(page, 'story')
    await answer(page, 'First paragraph.').waitFor()
    await answer(page, 'Second').waitFor()
    await page.evaluate(
      'for (const block of document.querySelectorAll(".markdown-block")) block.firstChild.dataset.old = "1"',
    )
    gates.open('story')
    await answer(page, 'Second paragraph.').waitFor()
    expect(
      await page.evaluate(
        '[...document.querySelectorAll(".markdown-block > *")].map((one) => one.dataset.old ?? "")',
      ),
    ).toEqual(['1', ''])
  })

  it('shows thoughts while they come, and folds them with their time', async () => {
    gates.close('think')
    const page = await rig.open('#/chat/talker')
    await say(page, 'think')
    await page.getByText('I look at it from all sides.').waitFor()
    expect(await page.getByRole('button', { name: 'Thinking' }).getAttribute('aria-expanded')).toBe('true')
    await page.evaluate(threeSecondsLater)
    gates.open('think')
    const folded = page.getByRole('button', { name: /Thought for 3\.\d s/ })
    await folded.waitFor()
    await page.getByText('I look at it from all sides.').waitFor({ state: 'detached' })
    await folded.click()
    await page.getByText('I look at it from all sides.').waitFor()
    await page.getByText('1,200 tokens in, 34 out').waitFor()
  })

  it('shows a tool call with its arguments, progress and result, and folds it when it is over', async () => {
    gates.close('count')
    const page = await rig.open('#/chat/worker')
    await say(page, 'go')
    const card = page.locator('.tool-card')
    await card.getByText('One is counted').waitFor()
    expect(await propertyOf(card.locator('progress'), 'value')).toBeCloseTo(1 / 3)
    expect(await card.locator('.json-text').first().textContent()).toBe('{\n  "to": 3\n}')
    await page.evaluate(threeSecondsLater)
    gates.open('count')
    await answer(page, 'The work is done.').waitFor()
    const head = card.getByRole('button', { name: 'count' })
    expect(await head.getAttribute('aria-expanded')).toBe('false')
    expect(await head.locator('.badge-good').textContent()).toMatch(/^3\.\d s$/)
    await head.click()
    expect(await card.locator('.json-text').last().textContent()).toBe('{\n  "counted": 3\n}')
  })

  it('shows why a tool failed', async () => {
    const page = await rig.open('#/chat/worker')
    await say(page, 'break')
    await answer(page, 'The work is done.').waitFor()
    const card = page.locator('.tool-card-failed')
    await card.getByRole('button', { name: 'breaks' }).click()
    await card.getByText('The machine is out of paper.').waitFor()
  })

  it('shows subagents as groups with name and status, also after a reload', async () => {
    gates.close('research')
    const page = await rig.open('#/chat/team')
    await say(page, 'go')
    const researcher = page.locator('.subagent', { hasText: 'researcher' })
    await researcher.getByText('I have found').waitFor()
    await researcher.getByText('at work').waitFor()
    expect(await page.locator('.subagent').count()).toBe(2)
    gates.open('research')
    await answer(page, 'The team is done.').waitFor()
    await researcher.getByText('I have found three sources.').waitFor()
    await page.reload()
    await answer(page, 'The team is done.').waitFor()
    await page.locator('.subagent', { hasText: 'critic' }).getByRole('button').first().click()
    await page
      .locator('.subagent', { hasText: 'critic' })
      .locator('.answer', { hasText: 'Two of them are weak.' })
      .waitFor()
  })

  it('shows a plan that ticks off', async () => {
    gates.close('plan')
    const page = await rig.open('#/chat/planner')
    await say(page, 'go')
    await page.locator('.plan .plan-running', { hasText: 'Find a hotel' }).waitFor()
    gates.open('plan')
    await answer(page, 'All is booked.').waitFor()
    await page.locator('.plan', { hasText: '2 / 2' }).waitFor()
  })

  it('follows what comes while the person is at the end, and stays put otherwise', async () => {
    const page = await rig.open('#/chat/talker')
    await say(page, 'long')
    await answer(page, 'Paragraph 60.').waitFor()
    await say(page, 'long again')
    const scroller = page.locator('.message-scroll')
    const position = (): Promise<number> => propertyOf(scroller, 'scrollTop')
    const distance = async (): Promise<number> =>
      (await propertyOf(scroller, 'scrollHeight')) -
      (await propertyOf(scroller, 'clientHeight')) -
      (await position())
    await expect.poll(() => answer(page, 'Paragraph 60.').count()).toBeGreaterThan(0)
    await expect.poll(distance).toBeLessThan(3)
    await scroller.hover()
    await page.mouse.wheel(0, -600)
    const jump = page.getByRole('button', { name: 'Jump to newest' })
    await jump.waitFor()
    const top = await position()
    gates.close('story')
    await say(page, 'story')
    await page.locator('.working').waitFor({ state: 'attached' })
    gates.open('story')
    await page.locator('.working').waitFor({ state: 'detached' })
    expect(Math.abs((await position()) - top)).toBeLessThan(40)
    await jump.click()
    await answer(page, 'Second paragraph.').waitFor()
    await expect.poll(distance).toBeLessThan(3)
    await jump.waitFor({ state: 'detached' })
  })

  it('fits a phone: nothing is wider than the screen', async () => {
    const page = await rig.open('#/chat/talker', { viewport: phone, hasTouch: true })
    await say(page, 'code')
    await page.locator('.code-block').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('.thread-item', { hasText: 'code' }).first().waitFor()
  })

  it('speaks Chinese', async () => {
    gates.close('think')
    const page = await rig.open('#/chat/talker', { locale: 'zh-CN' })
    await page.getByLabel('消息').fill('think')
    await page.getByRole('button', { name: '发送' }).click()
    await page.getByRole('button', { name: '思考中…' }).waitFor()
    await page.evaluate(threeSecondsLater)
    gates.open('think')
    await page.getByRole('button', { name: /思考了/ }).waitFor()
  })
})

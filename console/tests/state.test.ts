import { z } from 'zod'
import { describe, expect, it } from 'vitest'
import { defineAgent, defineTool, type Agent } from '../../src/agents/index.js'
import { scriptedModel, type ScriptedAnswer } from '../../src/models/index.js'
import { createGates, hasResult, lastWords, type Gates } from './agents-chat.js'
import { answer, say } from './chat-actions.js'
import { phone, useConsole } from './rig.js'

/** Keeps a shopping list. */
function createShopper(gates: Gates): Agent {
  const put = defineTool({
    name: 'put',
    description: 'Puts something on the list.',
    input: z.object({ what: z.string() }),
    async execute({ what }, ctx) {
      ctx.setState((state: unknown) => {
        const { items = [] } = (state ?? {}) as { readonly items?: readonly object[] }
        return { ...(state as object), items: [...items, { name: what, isBought: false }] }
      })
      await gates.wait('put')()
      return 'ok'
    },
  })
  const model = scriptedModel(({ messages }): ScriptedAnswer => {
    const what = lastWords(messages)
    return hasResult(messages) ? `${what} is on the list.` : [{ toolCall: { name: 'put', args: { what } } }]
  })
  return defineAgent({ name: 'shopper', description: 'Shops.', model, tools: [put] })
}

describe('the shared state', () => {
  const gates = createGates()
  const rig = useConsole(() => ({ agents: [createShopper(gates)] }))

  it('is a live tree in which each change is lit', async () => {
    const page = await rig.open('#/chat/shopper')
    await page.getByRole('button', { name: 'Shared state' }).click()
    const panel = page.getByRole('complementary', { name: 'Shared state' })
    await panel.getByText('Nothing yet.').waitFor()
    await say(page, 'milk')
    await panel.getByRole('button', { name: 'name: "milk". Change' }).waitFor()
    await answer(page, 'milk is on the list.').waitFor()
    await say(page, 'bread')
    const bread = panel.getByRole('button', { name: 'name: "bread". Change' })
    await bread.waitFor()
    expect(await bread.getAttribute('data-lit')).toBe('true')
    expect(
      await page.evaluate(
        'getComputedStyle(document.querySelector(".state-value[data-lit=true]")).animationName',
      ),
    ).toBe('state-lit')
    const milk = panel.getByRole('button', { name: 'name: "milk". Change' })
    expect(await milk.getAttribute('data-lit')).toBe('false')
  })

  it('can be changed: values set, keys added and deleted, in all tabs', async () => {
    const page = await rig.open('#/chat/shopper')
    await page.getByRole('button', { name: 'Shared state' }).click()
    const panel = page.getByRole('complementary', { name: 'Shared state' })
    await say(page, 'milk')
    await answer(page, 'milk is on the list.').waitFor()
    const other = await page.context().newPage()
    await other.goto(page.url())
    const there = other.getByRole('complementary', { name: 'Shared state' })
    await there.getByRole('button', { name: 'isBought: false. Change' }).waitFor()
    await panel.getByRole('button', { name: 'isBought: false. Change' }).click()
    await panel.getByRole('textbox', { name: 'isBought' }).fill('true')
    await page.keyboard.press('Enter')
    await there.getByRole('button', { name: 'isBought: true. Change' }).waitFor()
    await panel.getByRole('button', { name: 'Add to Shared state' }).click()
    await panel.getByRole('textbox', { name: 'Key' }).fill('budget/eur')
    await panel.getByRole('textbox', { name: 'Value or JSON' }).fill('{ "most": 20 }')
    await page.keyboard.press('Enter')
    await there.getByRole('button', { name: 'most: 20. Change' }).waitFor()
    await panel.getByRole('button', { name: 'Delete budget/eur' }).focus()
    await page.keyboard.press('Enter')
    await there.getByText('budget/eur').waitFor({ state: 'detached' })
    await other.close()
  })

  it('is a sheet on a phone that Escape closes, and keeps still for those who want no motion', async () => {
    const page = await rig.open('#/chat/shopper', { viewport: phone, reducedMotion: 'reduce' })
    await say(page, 'eggs')
    await answer(page, 'eggs is on the list.').waitFor()
    await page.getByRole('button', { name: 'Shared state' }).click()
    const panel = page.getByRole('complementary', { name: 'Shared state' })
    const box = await panel.boundingBox()
    expect(box?.width).toBe(phone.width)
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(phone.height)
    await panel.getByRole('button', { name: 'Close' }).press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  it('waits for a live run with changes of the person', async () => {
    gates.close('put')
    const page = await rig.open('#/chat/shopper')
    await page.getByRole('button', { name: 'Shared state' }).click()
    const panel = page.getByRole('complementary', { name: 'Shared state' })
    await say(page, 'tea')
    await panel.getByRole('button', { name: 'name: "tea". Change' }).click()
    await panel.getByText('A run is live.').waitFor()
    await panel.getByRole('textbox', { name: 'name' }).fill('green tea')
    await page.keyboard.press('Enter')
    gates.open('put')
    await panel.getByRole('button', { name: 'name: "green tea". Change' }).waitFor()
  })
})

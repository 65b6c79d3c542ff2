import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createGates, createTalker } from './agents-chat.js'
import { answer, say } from './chat-actions.js'
import { useConsole } from './rig.js'

const paragraph =
  'Some **words** with `code` and a [link](https://example.org), as models write them. '.repeat(4)

describe('a thread with 5,000 messages', () => {
  const rig = useConsole(() => ({ agents: [createTalker(createGates())] }))

  it('scrolls and streams about as smoothly as one with 50', async () => {
    await addMessages(rig.url, 'few', 50)
    await addMessages(rig.url, 'many', 5000)
    const page = await rig.open('#/chat/talker/few')
    await answer(page, 'to: message 48').waitFor()
    const few = await frames(page)
    await page.goto(page.url().replace('few', 'many'))
    await answer(page, 'to: message 4998').waitFor()
    expect(await page.locator('.message-row').count()).toBeLessThan(80)
    const many = await frames(page)
    console.log(`frames: 50 messages ${JSON.stringify(few)}, 5,000 messages ${JSON.stringify(many)}`)
    expect(many.scroll / few.scroll).toBeLessThan(2)
    expect(many.stream / few.stream).toBeLessThan(3)
  })
})

/** Collects the times of frames, and tells the one at the 90th percentile, in milliseconds. */
const measure = `async (isOver, step) => {
  const times = []
  let last = performance.now()
  while (!isOver(times.length)) {
    step()
    const now = await new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())))
    times.push(now - last)
    last = now
  }
  return times.sort((left, right) => left - right)[Math.floor(times.length * 0.9)]
}`

/** While the page is scrolled, and while an answer streams. */
async function frames(page: Page): Promise<{ readonly scroll: number; readonly stream: number }> {
  const scroller = 'document.querySelector(".message-scroll")'
  const scroll: number = await page.evaluate(
    `(${measure})((count) => count === 60, () => { ${scroller}.scrollTop -= 120 })`,
  )
  await page.evaluate(`${scroller}.scrollTop = ${scroller}.scrollHeight`)
  const isOver = '(count) => count >= 40 && !document.querySelector(".working")'
  const stream: Promise<number> = page.evaluate(`(${measure})(${isOver}, () => {})`)
  await say(page, 'long')
  await answer(page, 'Paragraph 60.').waitFor()
  return { scroll, stream: await stream }
}

/** A thread with a history that its client brings along. */
async function addMessages(url: string, threadId: string, count: number): Promise<void> {
  const messages = Array.from({ length: count - 1 }, (_, index) =>
    index % 2 === 0
      ? { id: `${threadId}-${index}`, role: 'user', content: `message ${index}` }
      : { id: `${threadId}-${index}`, role: 'assistant', content: paragraph },
  )
  const response = await fetch(`${url}/agents/talker/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ threadId, runId: `run-${threadId}`, tools: [], context: [], messages }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

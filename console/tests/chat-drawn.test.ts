import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createGates, createPainter, createTalker } from './agents-chat.js'
import { answer, atRest, say } from './chat-actions.js'
import { useConsole } from './rig.js'

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('what agents draw and the page does for them', () => {
  const gates = createGates()
  const rig = useConsole(() => ({ agents: [createPainter(gates), createTalker(gates)] }))

  it('sets the colours when an agent asks for it', async () => {
    const page = await rig.open('#/chat/painter')
    await say(page, 'dark')
    await answer(page, 'Painted dark.').waitFor()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  })

  it('draws a chart of a client tool, with its numbers for those who do not see it', async () => {
    const page = await rig.open('#/chat/painter')
    await say(page, 'draw')
    await answer(page, 'Painted draw.').waitFor()
    const chart = page.getByRole('figure', { name: 'Rain in Oslo' })
    await chart.waitFor()
    expect(await chart.locator('rect').count()).toBe(3)
    expect(await chart.locator('td', { hasText: '85' }).count()).toBe(1)
    await page.reload()
    await page.getByRole('figure', { name: 'Rain in Oslo' }).waitFor()
  })

  it('draws the chart of a CUSTOM event, and shows any other activity', async () => {
    const page = await rig.open('#/chat/painter')
    await say(page, 'chart')
    await page.getByRole('figure', { name: 'Rain in Oslo' }).waitFor()
    await say(page, 'search')
    const activity = page.locator('.activity', { hasText: 'web-search' })
    await activity.getByText('Looks at 12 pages').waitFor()
    await activity.getByRole('button').click()
    await activity.locator('.json-text', { hasText: '"sites"' }).waitFor()
  })

  it('shares the location only after the person agrees', async () => {
    const page = await rig.open('#/chat/painter', {
      permissions: ['geolocation'],
      geolocation: { latitude: 59.9, longitude: 10.7 },
    })
    await say(page, 'where')
    const card = page.getByRole('group', { name: 'Share your location with the agent?' })
    await card.getByRole('button', { name: 'Do not share' }).click()
    await answer(page, 'Painted where.').waitFor()
    await page.locator('.tool-card', { hasText: 'get_location' }).getByRole('button').click()
    await page.getByText('The person does not share the location.').waitFor()
    await say(page, 'where')
    await card.getByRole('button', { name: 'Share', exact: true }).click()
    await answer(page, 'Painted where.').nth(1).waitFor()
    const call = page.locator('.tool-card', { hasText: 'get_location' }).last()
    await call.getByRole('button').click()
    await call.getByText('59.9').waitFor()
  })

  it('carries out a call that waited while the page was loaded', async () => {
    const page = await rig.open('#/chat/painter')
    await say(page, 'where')
    await page.getByRole('group', { name: 'Share your location with the agent?' }).waitFor()
    await page.reload()
    await page.getByText('The agent waits for a tool of this page.').waitFor()
    await page.getByRole('button', { name: 'Carry out' }).click()
    await page.getByRole('button', { name: 'Do not share' }).click()
    await answer(page, 'Painted where.').waitFor()
  })

  it('draws a surface of A2UI, and sends what a person enters and clicks', async () => {
    const page = await rig.open('#/chat/painter')
    await say(page, 'surface')
    await atRest(page)
    const surface = page.getByRole('region', { name: 'Surface of the agent' })
    await surface.getByText('Flights to Oslo').waitFor()
    await surface.getByRole('textbox', { name: 'Your name' }).fill('Ann')
    const sent = page.waitForRequest((request) => request.url().endsWith('/agents/painter/run'))
    await surface.getByRole('button', { name: 'DY 7' }).click()
    const body = (await sent).postDataJSON() as { forwardedProps: { a2uiAction: { userAction: object } } }
    expect(body.forwardedProps.a2uiAction.userAction).toMatchObject({
      ...{ name: 'book', surfaceId: 'flights', sourceComponentId: 'flight' },
      context: { flight: 'DY 7', who: 'Ann' },
    })
    await page.reload()
    await surface.getByRole('button', { name: 'SK 4' }).waitFor()
  })

  it('sends files that are chosen, pasted and dropped, and refuses those that are too large', async () => {
    const page = await rig.open('#/chat/talker')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach files' }).click()
    await (
      await chooser
    ).setFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: pixel },
      { name: 'huge.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(7 * 1024 * 1024) },
    ])
    await page.getByText('huge.bin has 7.0 MB. At most 6.0 MB can be attached.').waitFor()
    await page.getByRole('img', { name: 'Picture dot.png' }).waitFor()
    await giveFile(page, 'paste', 'notes.txt')
    await giveFile(page, 'drop', 'plan.txt')
    await page.getByRole('button', { name: 'Remove plan.txt' }).waitFor()
    await page.getByRole('button', { name: 'Remove plan.txt' }).click()
    await say(page, 'Look at these')
    await answer(page, 'to: Look at these').waitFor()
    const message = page.getByRole('article', { name: 'You' })
    expect(await message.locator('img').getAttribute('src')).toContain(pixel.toString('base64'))
    await message.getByText('notes.txt').waitFor()
    await page.reload()
    await message.getByText('notes.txt').waitFor()
    expect(await page.locator('.attachment').count()).toBe(0)
  })
})

/** Pastes or drops a file where the person writes. */
async function giveFile(page: Page, how: 'paste' | 'drop', name: string): Promise<void> {
  const event =
    how === 'paste'
      ? 'new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data })'
      : 'new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data })'
  await page.evaluate(`{
    const data = new DataTransfer()
    data.items.add(new File(['hello'], '${name}', { type: 'text/plain' }))
    document.getElementById('composer').dispatchEvent(${event})
  }`)
}

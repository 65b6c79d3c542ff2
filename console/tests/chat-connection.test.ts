import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { createGates, createTalker } from './agents-chat.js'
import { answer, atRest, say } from './chat-actions.js'
import { openLine } from './line.js'
import { useConsole } from './rig.js'

describe('a conversation over a bad connection', () => {
  const gates = createGates()
  const store = createMemoryStore()
  const rig = useConsole(() => ({ agents: [createTalker(gates)], store }))

  it('goes on after a reload in mid-stream', async () => {
    gates.close('story')
    const page = await rig.open('#/chat/talker')
    await say(page, 'story')
    await answer(page, 'Second').waitFor()
    await page.reload()
    await answer(page, 'Second').waitFor()
    gates.open('story')
    await answer(page, 'Second paragraph.').waitFor()
    await atRest(page)
    expect(await page.locator('.user-message').count()).toBe(1)
  })

  it('says that the connection is lost, heals, and misses nothing', async () => {
    gates.close('story')
    rig.allow(/ERR_|Failed to load resource|^request to http:\/\/127\.0\.0\.1:/)
    await using line = await openLine(rig.url)
    const page = await rig.open()
    await page.goto(`${line.url}/console/#/chat/talker`)
    await say(page, 'story')
    await answer(page, 'Second').waitFor()
    line.cut()
    await page.getByText('The connection is lost. Trying again …').waitFor()
    gates.open('story')
    line.heal()
    await page.getByText('Connected again. Nothing is missing.').waitFor()
    await answer(page, 'Second paragraph.').waitFor()
    await atRest(page)
    expect(await page.locator('.answer').count()).toBe(1)
    await page.goto('about:blank')
  })

  it('survives a restart of the server, and says what became of the run', async () => {
    gates.close('story')
    rig.allow(/ERR_|Failed to load resource|server (warn|error)/)
    const page = await rig.open('#/chat/talker')
    await say(page, 'Hello')
    await answer(page, 'to: Hello').waitFor()
    await say(page, 'story')
    await answer(page, 'Second').waitFor()
    await rig.restart()
    gates.open('story')
    await page.locator('.run-failure').waitFor()
    await answer(page, 'to: Hello').waitFor()
    await page.locator('.run-failure').getByRole('button', { name: 'Try again' }).click()
    await answer(page, 'Second paragraph.').waitFor()
  })

  it('stops a run with the button and with Escape', async () => {
    const page = await rig.open('#/chat/talker')
    for (const stop of ['button', 'key']) {
      gates.close('story')
      await say(page, 'story')
      await answer(page, 'Second').last().waitFor()
      if (stop === 'button') await page.getByRole('button', { name: 'Stop' }).click()
      else await page.getByRole('textbox', { name: 'Message' }).press('Escape')
      await atRest(page)
    }
    expect(await page.locator('.answer .badge', { hasText: 'cut off' }).count()).toBe(2)
  })

  it('says why a run failed, and tries again', async () => {
    rig.allow(/server (warn|error)/)
    const page = await rig.open('#/chat/talker')
    await say(page, 'fail')
    const failure = page.getByRole('alert').filter({ hasText: 'The run failed.' })
    await failure.getByText('MODEL_ERROR').waitFor()
    await failure.getByText('The model did not answer as it should.').waitFor()
    await failure.getByRole('button', { name: 'Try again' }).waitFor()
  })
})

import { describe, expect, test, beforeEach } from 'vitest'
import type { Page } from 'playwright-core'
import { createGate, failingAgent, helperAgent, waitingAgent } from './agents-yard.js'
import { postRun } from './post-run.js'
import { phone, useConsole } from './rig.js'

const gate = createGate()
beforeEach(() => gate.reset())

const agents = () => [helperAgent(), waitingAgent('slow', gate), failingAgent()] as const

function rowOf(page: Page, title: string) {
  return page.getByRole('row').filter({ hasText: title })
}

describe('the list of runs', () => {
  const rig = useConsole(() => ({ agents: agents() }))

  test('says what to do while there are none, and shows the first at once', async () => {
    const page = await rig.open('#/runs')
    await page.getByText('No runs yet').waitFor()
    const { done } = await postRun(rig.url, 'helper', { text: 'The very first' })
    await rowOf(page, 'The very first').getByText('completed').waitFor()
    await done
    expect(await page.title()).toBe('Runs · Millrace')
  })

  test('shows a run while it goes on, with a duration that ticks, until it ends', async () => {
    const page = await rig.open('#/runs')
    const { done } = await postRun(rig.url, 'slow', { text: 'Take your time' })
    const row = rowOf(page, 'Take your time')
    await row.getByText('running').waitFor()
    await page.getByText('1 at work').waitFor()
    const duration = row.locator('.run-duration')
    const before = await duration.textContent()
    await expect.poll(() => duration.textContent()).not.toBe(before)
    gate.open()
    await row.getByText('completed').waitFor()
    await done
    const after = await duration.textContent()
    expect(after).toMatch(/^\d/)
  })

  test('cancels a run', async () => {
    const page = await rig.open('#/runs')
    const { done } = await postRun(rig.url, 'slow', { text: 'Never ends' })
    await rowOf(page, 'Never ends').getByRole('button', { name: 'Cancel run' }).click()
    await rowOf(page, 'Never ends').getByText('cancelled').waitFor()
    expect((await done).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(await rowOf(page, 'Never ends').getByRole('button', { name: 'Cancel run' }).count()).toBe(0)
  })

  test('tells why a run has failed', async () => {
    rig.allow(/server error|server warn/)
    const page = await rig.open('#/runs')
    await (
      await postRun(rig.url, 'broken', { text: 'Try this' })
    ).done
    await rowOf(page, 'Try this').getByText('failed', { exact: true }).waitFor()
    await rowOf(page, 'Try this').locator('.run-error').waitFor()
  })

  test('is filtered by status, agent, duration and words', async () => {
    const page = await rig.open('#/runs')
    await (
      await postRun(rig.url, 'helper', { text: 'Needle in hay' })
    ).done
    const slow = await postRun(rig.url, 'slow', { text: 'Slow one' })
    await rowOf(page, 'Slow one').waitFor()
    await page.getByLabel('Status', { exact: true }).selectOption('running')
    await expect.poll(() => page.locator('.run-rows .run-row').count()).toBe(1)
    await page.getByLabel('Status', { exact: true }).selectOption('')
    await page.getByLabel('Agent', { exact: true }).selectOption('helper')
    await expect.poll(() => rowOf(page, 'Slow one').count()).toBe(0)
    await page.getByLabel('Agent', { exact: true }).selectOption('')
    await page.getByRole('searchbox', { name: /title, id or error/ }).fill('needle HAY')
    await expect.poll(() => page.locator('.run-rows .run-row').count()).toBe(1)
    await page.getByLabel('Duration').selectOption({ label: 'Longer than 5 min 0 s' })
    await page.getByText('No run fits the filters').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await rowOf(page, 'Slow one').waitFor()
    gate.open()
    await slow.done
  })

  test('opens a run in the chat and in the inspector', async () => {
    const page = await rig.open('#/runs')
    const { threadId, done } = await postRun(rig.url, 'helper', { text: 'Open me' })
    const events = await done
    const started = events[0]
    const runId = started?.type === 'RUN_STARTED' ? started.runId : ''
    const row = rowOf(page, 'Open me')
    const href = await row.getByRole('link', { name: 'Inspect' }).getAttribute('href')
    expect(decodeURIComponent(href ?? '')).toBe(`#/inspect?source=run:helper/${threadId}/${runId}`)
    await row.getByRole('link', { name: 'Open in chat' }).click()
    await page.waitForURL(`**/console/#/chat/helper/${threadId}`)
    await page.getByRole('log').getByText('Open me').waitFor()
  })

  test('heals after a restart of the server', async () => {
    rig.allow(/ERR_|Failed to load resource/)
    const page = await rig.open('#/runs')
    await (
      await postRun(rig.url, 'helper', { text: 'Before' })
    ).done
    await rowOf(page, 'Before').waitFor()
    await rig.restart()
    await (
      await postRun(rig.url, 'helper', { text: 'After it' })
    ).done
    await rowOf(page, 'After it').waitFor()
    await rowOf(page, 'Before').waitFor()
    await page.getByText('The live list is interrupted').waitFor({ state: 'detached' })
  })

  test('keeps only the rows in sight in the document', async () => {
    for (let count = 0; count < 120; count++) await (await postRun(rig.url, 'helper')).done
    const page = await rig.open('#/runs')
    const table = page.getByRole('table', { name: 'Runs' })
    await expect.poll(async () => Number(await table.getAttribute('aria-rowcount'))).toBeGreaterThan(120)
    expect(await page.locator('.run-rows .run-row').count()).toBeLessThan(60)
    const last = page.locator('.run-rows .run-row').last()
    await expect
      .poll(async () => {
        await table.press('End')
        return Number(await last.getAttribute('aria-rowindex'))
      })
      .toBeGreaterThan(120)
  })

  test('fits a phone', async () => {
    const page = await rig.open('#/runs', { viewport: phone })
    await (
      await postRun(rig.url, 'helper', { text: 'A long title that does not fit on a small screen at all' })
    ).done
    await rowOf(page, 'A long title').getByText('completed').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
    const box = await rowOf(page, 'A long title').getByRole('link', { name: 'Inspect' }).boundingBox()
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(phone.width)
  })
})

describe('with users', () => {
  const users: Readonly<Record<string, { readonly user: string; readonly isOperator?: boolean }>> = {
    'Bearer ann': { user: 'ann@mill.example' },
    'Bearer bob': { user: 'bob' },
    'Bearer root': { user: 'root', isOperator: true },
  }
  const rig = useConsole(() => ({
    agents: agents(),
    identify: (request) => users[request.headers.get('authorization') ?? ''],
  }))

  async function openAs(token: string, hash: string): Promise<Page> {
    rig.allow(/401|UNAUTHENTICATED/)
    const page = await rig.open(hash)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    return page
  }

  test('each sees their own runs, and an operator all of them, by user', async () => {
    await (
      await postRun(rig.url, 'helper', { text: 'From Ann', token: 'ann' })
    ).done
    await (
      await postRun(rig.url, 'helper', { text: 'From Bob', token: 'bob' })
    ).done
    const bob = await openAs('bob', '#/runs')
    await rowOf(bob, 'From Bob').waitFor()
    expect(await rowOf(bob, 'From Ann').count()).toBe(0)
    expect(await bob.getByLabel('User').count()).toBe(0)

    const root = await openAs('root', '#/runs')
    await rowOf(root, 'From Ann').waitFor()
    await root.getByLabel('User').selectOption('bob')
    await expect.poll(() => rowOf(root, 'From Ann').count()).toBe(0)
    await rowOf(root, 'From Bob').waitFor()
  })

  test('an operator opens the thread of a user, is told so, and comes back', async () => {
    await (
      await postRun(rig.url, 'helper', { text: 'Secret of Ann', token: 'ann' })
    ).done
    const page = await openAs('root', '#/runs')
    await rowOf(page, 'Secret of Ann').getByRole('link', { name: 'Open in chat' }).click()
    await page.getByText('You see what ann@mill.example has.').waitFor()
    await page.getByRole('log').getByText('Secret of Ann').waitFor()
    await page.getByRole('button', { name: 'Back to your own' }).click()
    await page.getByText('You see what ann@mill.example has.').waitFor({ state: 'detached' })
  })

  test("an operator cancels a user's run", async () => {
    const { done } = await postRun(rig.url, 'slow', { text: 'Stuck run', token: 'ann' })
    const page = await openAs('root', '#/runs')
    await rowOf(page, 'Stuck run').getByRole('button', { name: 'Cancel run' }).click()
    await rowOf(page, 'Stuck run').getByText('cancelled').waitFor()
    await done
  })
})

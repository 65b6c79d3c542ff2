import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { approvalAgent, createGate, graphAgent, helperAgent, teamAgent, waitingAgent } from './agents-yard.js'
import { postRun } from './post-run.js'
import { desktop, phone, useConsole } from './rig.js'

const gate = createGate()
beforeEach(() => gate.reset())

const rig = useConsole(() => ({
  agents: [approvalAgent(), helperAgent(), teamAgent(gate), graphAgent(gate), waitingAgent('slow', gate)],
  console: { toolCalls: true, foreign: true },
}))

/** What axe finds serious or critical. */
async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const { violations }: axe.AxeResults = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] })',
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`),
    )
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
}

/** Each page, and how to get it to where there is something to see. */
const pages: Readonly<Record<string, readonly [hash: string, prepare: (page: Page) => Promise<unknown>]>> = {
  'an empty chat': ['#/chat/approval', (page) => page.getByText('Reserve a table for five').waitFor()],
  'a chat with a tool call': [
    '#/chat/helper',
    async (page) => {
      await say(page, 'What is the weather in Oslo?')
      await page.getByText('It is 7 °C and raining in Oslo.').first().waitFor()
    },
  ],
  'an open question': [
    '#/chat/approval',
    async (page) => {
      await say(page, 'Book a table for 2 at Maaemo.')
      await page.getByText('Book a table for 2 at Maaemo?').first().waitFor()
    },
  ],
  'the list of runs': [
    '#/runs',
    async (page) => {
      await (
        await postRun(rig.url, 'helper', { text: 'For the list' })
      ).done
      await page.getByText('For the list').first().waitFor()
    },
  ],
  'an agent with tools': [
    '#/agents/helper',
    async (page) => {
      await page.getByText('get_weather').click()
      await page.getByLabel('city').waitFor()
    },
  ],
  'a graph': ['#/agents/flow', (page) => page.getByText('act', { exact: true }).waitFor()],
  'the inspector': ['#/inspect', (page) => page.waitForLoadState('networkidle')],
  'the shortcuts': [
    '#/runs',
    async (page) => {
      await page.getByRole('main').waitFor()
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
    },
  ],
}

describe.each([
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
  ['dark', 'phone'],
] as const)('in %s on a %s, axe finds nothing serious in', (colorScheme, size) => {
  test.each(Object.keys(pages))('%s', async (name) => {
    const [hash, prepare] = pages[name] ?? ['', () => Promise.resolve()]
    const viewport = size === 'phone' ? phone : desktop
    const page = await rig.open(hash, { colorScheme, viewport, reducedMotion: 'reduce' })
    await prepare(page)
    expect(await findings(page)).toEqual([])
  })
})

/** Goes on with Tab until an element that fits has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 60; count++) {
    await page.keyboard.press('Tab')
    const label: string = await page.evaluate(
      `document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText`,
    )
    if (label.trim() === name) return
  }
  throw new Error(`Tab does not reach "${name}".`)
}

test('with the keyboard alone, one talks to an agent, approves, and goes on', async () => {
  const page = await rig.open('#/chat/approval')
  await page.getByText('Reserve a table for five').waitFor()
  await tabTo(page, 'Message')
  await page.keyboard.type('Book a table for 2 at Maaemo.')
  await page.keyboard.press('Enter')
  await page.getByText('Book a table for 2 at Maaemo?').first().waitFor()
  await tabTo(page, 'Approve')
  await page.keyboard.press('Enter')
  await page.getByText('The table is booked.').first().waitFor()
  // The focus is not lost with the button that had it.
  await tabTo(page, 'Message')
  await page.keyboard.type('Thanks!')
  await page.keyboard.press('Enter')
  await page
    .getByText(/welcome/)
    .first()
    .waitFor()
})

import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { decodeSse } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { formatRunFile, parseRunFile } from '../src/inspector/model/run-file.js'
import { copiedBy } from './clipboard.js'
import { createGate, inspectorAgents, type Gate } from './agents-inspector.js'
import { teamRun } from './inspector-runs.js'
import { phone, useConsole } from './rig.js'

let gate: Gate = createGate()

const rig = useConsole(() => ({
  agents: inspectorAgents(() => gate),
  hooks: {
    outputChange: (event) =>
      event.type === 'TEXT_MESSAGE_CONTENT' ? { ...event, delta: event.delta.replace('sky', 'roof') } : event,
  },
}))

let runs = 0

/** Runs an agent to its end, as any client does. Returns the address of the run in the inspector. */
async function run(agent: string, { isAwaited = true } = {}): Promise<string> {
  const [threadId, runId] = [`t-${++runs}`, `r-${runs}`]
  const messages = [{ id: `u-${runs}`, role: 'user', content: 'How is Oslo?' }]
  const response = await fetch(`${rig.url}/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'millrace-reconnects': 'true' },
    body: JSON.stringify({ threadId, runId, protocolVersion: '1.0', messages, tools: [], context: [] }),
  })
  expect(response.status).toBe(200)
  if (isAwaited && response.body) {
    const events: unknown[] = []
    for await (const frame of decodeSse(response.body)) if (frame.kind === 'event') events.push(frame.event)
    assertValidStream(events)
  }
  return `#/inspect?source=${encodeURIComponent(`run:${agent}/${threadId}/${runId}`)}`
}

const rows = (page: Page) => page.getByRole('listbox', { name: 'Events' }).getByRole('option')
const selected = (page: Page) => page.locator('.event-row[aria-selected=true]')
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click()
const choose = async (page: Page, item: string) => {
  await page.getByRole('button', { name: 'More', exact: true }).last().click()
  await page.getByRole('button', { name: item }).click()
}
/** The list keeps what is selected in view. */
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key)
}
const saved = (name: string, text: string): string => {
  const path = join(tmpdir(), name)
  writeFileSync(path, text)
  return path
}
const openFile = async (page: Page, path: string) => page.locator('input[type=file]').setInputFiles(path)

describe('a run of the own server', () => {
  it('shows each event and what the client holds there, by keys and by its address', async () => {
    const page = await rig.open(await run('helper'))
    await selected(page).getByText('RUN_FINISHED').waitFor()
    await page.getByText('valid').first().waitFor()
    await tab(page, 'Client')
    await messages(page).getByText('It rains, says the roof').waitFor()

    await page.locator('.event-list-box').focus()
    await press(page, 'Home', 'j')
    await selected(page).getByText('RUN_STARTED').waitFor()
    await messages(page).getByText('How is Oslo?').waitFor()
    expect(await messages(page).getByText('It rains, says the roof').count()).toBe(0)
    await page.waitForURL(/event=1$/)
    await press(page, 'j', 'ArrowDown', 'k')
    await page.waitForURL(/event=2$/)

    await page.reload()
    await selected(page).waitFor()
    expect(await selected(page).locator('.event-row-number').textContent()).toBe('2')
  })

  it('lights what an event changes in the state', async () => {
    const page = await rig.open(await run('helper'))
    await page.getByLabel('Type').selectOption({ value: 'STATE_DELTA' })
    await rows(page).last().click()
    await tab(page, 'Client')
    const state = page.getByRole('region', { name: 'State' })
    await state.locator('[data-lit=true]').first().waitFor()
    expect(await state.textContent()).toContain('"Oslo"')
  })

  it('shows the frame, the request to the model with its tools, and what hooks changed', async () => {
    const page = await rig.open(await run('helper'))
    await page.getByRole('region', { name: 'Frame' }).getByText('data: {"type":"RUN_FINISHED"').waitFor()
    await tab(page, 'Model')
    await page.getByRole('region', { name: 'Tools offered' }).getByText('weather').last().waitFor()
    expect(await page.getByText('Be brief.').count()).toBeGreaterThan(0)
    await tab(page, 'Hooks')
    await page.getByRole('region', { name: 'outputChange' }).getByText('roof').first().waitFor()
  })

  it('gives tokens the price that the person names', async () => {
    const page = await rig.open('#/inspect')
    await openFile(page, saved('team.run.json', formatRunFile(teamRun())))
    await tab(page, 'Tokens')
    await page.getByLabel('Input price scripted').fill('2')
    await page.getByLabel('Output price scripted').fill('10')
    await page.getByRole('cell', { name: '0.00580' }).waitFor()
    await page.reload()
    await openFile(page, saved('team.run.json', formatRunFile(teamRun())))
    await tab(page, 'Tokens')
    await page.getByRole('cell', { name: '0.00580' }).waitFor()
  })

  it('draws a lane for each of two agents at work, and tells the time of a span', async () => {
    const page = await rig.open(await run('pair'))
    const lanes = page.locator('.waterfall-name')
    await lanes.nth(2).waitFor()
    expect(await lanes.allTextContents()).toEqual(['pair', 'scout', 'writer'])
    await page.locator('.waterfall-lanes').focus()
    await press(page, 'ArrowRight')
    await page
      .locator('.waterfall-told')
      .getByText(/from \+\d/)
      .waitFor()
    await press(page, 'Enter')
    expect(await selected(page).locator('.event-row-type').textContent()).toMatch(/STARTED|START/)
    await page.locator('.waterfall-bar[data-kind=message]').last().hover()
    await page
      .locator('.waterfall-told')
      .getByText(/^Message/)
      .waitFor()
  })

  it('is followed while it goes on', async () => {
    gate = createGate()
    const page = await rig.open(await run('slow', { isAwaited: false }))
    await page.getByText('live', { exact: true }).waitFor()
    await page.getByText('One moment.').first().waitFor()
    expect(await page.getByText('RUN_FINISHED').count()).toBe(0)
    gate.open()
    await selected(page).getByText('RUN_FINISHED').waitFor()
    await page.getByText('valid').first().waitFor()
    await page.getByText('completed').waitFor()
  })

  it('is found by type and by text', async () => {
    const page = await rig.open(await run('helper'))
    await page.getByLabel('Type').selectOption({ value: 'TOOL_CALL_RESULT' })
    await expect.poll(() => rows(page).count()).toBe(1)
    await page.getByLabel('Type').selectOption('')
    await page.getByLabel('Search events').fill('RAIN IN')
    await expect.poll(() => rows(page).allTextContents()).toHaveLength(1)
    await page.getByLabel('Search events').fill('nowhere to be found')
    await page.getByText('Nothing found.').waitFor()
  })

  it('plays from the start with the space bar', async () => {
    const page = await rig.open(await run('helper'))
    await selected(page).getByText('RUN_FINISHED').waitFor()
    await page.locator('.event-list-box').focus()
    await press(page, ' ')
    await page.getByRole('button', { name: 'Pause (space)' }).waitFor()
    await page.getByRole('button', { name: 'Play (space)' }).waitFor()
    await selected(page).getByText('RUN_FINISHED').waitFor()
  })

  it('says so when it is not there', async () => {
    rig.allow(/404/)
    const page = await rig.open('#/inspect?source=run%3Ahelper%2Fnone%2Fnone')
    await page.getByText('The run cannot be shown.').waitFor()
    await page.getByText('There is no such run').waitFor()
  })
})

describe('copies', () => {
  it('are a command line, a fixture and a test', async () => {
    const page = await rig.open(await run('helper'))
    await page.getByText('valid').first().waitFor()
    const copied = (item: string): Promise<string> => copiedBy(page, () => choose(page, item))
    expect(await copied('Copy as curl')).toContain(`curl -N '${rig.url}/agents/helper/run'`)
    const fixture = JSON.parse(await copied('Copy as fixture')) as unknown[]
    assertValidStream(fixture)
    expect(await copied('Copy as vitest test')).toContain('expect(fold.messages).toEqual(')
  })

  it('as a file bring the same run back', async () => {
    const page = await rig.open(await run('helper'))
    await selected(page).getByText('RUN_FINISHED').waitFor()
    const downloading = page.waitForEvent('download')
    await choose(page, 'Save run file')
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^helper-r-\d+\.run\.json$/)
    const file = parseRunFile(readFileSync(await download.path(), 'utf8'))
    const other = await rig.open('#/inspect')
    await openFile(other, saved('back.run.json', formatRunFile(file)))
    await other.waitForURL(/source=file%3Aback/)
    await selected(other).getByText('RUN_FINISHED').waitFor()
    expect(await selected(other).getAttribute('aria-setsize')).toBe(String(file.events.length))
    await tab(other, 'Client')
    await messages(other).getByText('It rains, says the roof').waitFor()
  })

  it.each([
    ['{"a":', 'The file is no JSON'],
    ['{"format":"har"}', 'The file is no run file (format: "har")'],
    ['{"format":"millrace-run","version":9,"events":[]}', 'The file has version 9'],
    ['{"format":"millrace-run","version":1,"events":[3]}', 'The file is damaged at events[0]: 3'],
  ])('that are broken (%s) are refused with words', async (text, words) => {
    const page = await rig.open('#/inspect')
    await openFile(page, saved('broken.json', text))
    await page.getByRole('alert').getByText(words).waitFor()
  })

  it('may be dropped on the page', async () => {
    const page = await rig.open('#/inspect')
    await page.getByText('A saved run').waitFor()
    const text = JSON.stringify(formatRunFile(teamRun()))
    const data = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([${text}], 'dropped.run.json'))
      return transfer
    })()`)
    await page.dispatchEvent('.inspect-page', 'drop', { dataTransfer: data })
    await page.waitForURL(/source=file%3Adropped/)
    await page.getByText('1 silence, the longest 2.00 s').waitFor()
  })
})

it('a run whose events are gone says so', async () => {
  const page = await rig.open('#/inspect')
  const text = JSON.stringify({ ...teamRun(), events: [], isCut: true })
  await openFile(page, saved('cut.run.json', text))
  await page.getByRole('alert').getByText('Events are missing').waitFor()
  await page.getByText('No events yet.').waitFor()
})

describe('a fork', () => {
  it('begins a thread with the messages held at the event', async () => {
    const page = await rig.open(await run('helper'))
    await selected(page).getByText('RUN_FINISHED').waitFor()
    await page.getByRole('button', { name: 'Fork from here' }).click()
    const dialog = page.getByRole('dialog', { name: 'Fork from here' })
    await dialog.getByText('begins with 5 messages').waitFor()
    await dialog.getByLabel('Message').fill('And tomorrow?')
    await dialog.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/#\/chat\/helper\//)
    await page.getByText('And tomorrow?').first().waitFor()
    await page.getByText('How is Oslo?').first().waitFor()
    // Its request holds the messages of the first run, the question, and a call with its result.
    await page.getByText('and more: 9.').waitFor()
  })

  it('may put another question in place of the last', async () => {
    const page = await rig.open(await run('helper'))
    await page.getByRole('button', { name: 'Edit and rerun' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit and rerun' })
    expect(await dialog.getByLabel('Message').inputValue()).toBe('How is Oslo?')
    await dialog.getByLabel('Message').fill('How is Rome?')
    await dialog.getByRole('button', { name: 'Start' }).click()
    await page.waitForURL(/#\/chat\/helper\//)
    await page.getByText('How is Rome?').first().waitFor()
    expect(await page.getByRole('log').getByText('How is Oslo?').count()).toBe(0)
  })
})

describe('two runs', () => {
  it('stand side by side, and part where they differ', async () => {
    const first = await run('helper')
    const second = await run('helper')
    const beside = decodeURIComponent(second.slice(second.indexOf('=') + 1))
    const page = await rig.open(`${first}&beside=${encodeURIComponent(beside)}`)
    await page.getByText('Both runs tell the same.').waitFor()
    await page.getByRole('button', { name: 'End comparison' }).click()
    await page.getByRole('tab', { name: 'Client' }).waitFor()

    const file = teamRun()
    const events = file.events.map((entry) =>
      JSON.stringify(entry.event).includes('"sun"')
        ? { ...entry, event: { ...(entry.event as object), content: 'rain' } }
        : entry,
    )
    await page.goto(`${rig.url}/console/#/inspect`)
    await openFile(page, saved('one.json', formatRunFile(file)))
    await page.waitForURL(/one\.json/)
    await choose(page, 'Compare with …')
    await openFile(page, saved('two.json', formatRunFile({ ...file, events })))
    await page.getByRole('button', { name: 'First difference: event 11 and 11' }).click()
    await page.getByRole('region', { name: 'JSON right' }).getByText('"rain"').waitFor()
    await page.getByRole('region', { name: 'JSON left' }).getByText('"sun"').waitFor()
    await page.waitForURL(/beside=file%3Atwo\.json/)
  })
})

describe('a server that the policy of the page forbids', () => {
  it('is not asked, and the page says what would allow it', async () => {
    const page = await rig.open('#/inspect')
    await page.getByLabel('Address').fill('http://127.0.0.1:9/agent')
    await page.getByRole('button', { name: 'Send and inspect' }).click()
    await page.getByRole('alert').getByText('console: { foreign: true }').waitFor()
  })
})

describe('on a phone', () => {
  it('has list and details as tabs, and nothing sticks out', async () => {
    const page = await rig.open(await run('pair'), { viewport: phone, hasTouch: true })
    await rows(page).first().waitFor()
    await page.getByRole('tab', { name: 'Details' }).click()
    await page.getByRole('tab', { name: 'Client' }).click()
    await page.getByText('Wrote it down.').waitFor()
    await page.getByRole('button', { name: 'One event back (k)' }).click()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(phone.width)
    const start = await rig.open('#/inspect', { viewport: phone, colorScheme: 'dark' })
    await start.getByText('Any AG-UI endpoint').waitFor()
    expect(await start.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      phone.width,
    )
  })

  it('speaks Chinese', async () => {
    const page = await rig.open(await run('helper'), { locale: 'zh-CN', colorScheme: 'dark' })
    await page.getByRole('tab', { name: '客户端' }).waitFor()
    await page.getByText('有效').first().waitFor()
  })
})

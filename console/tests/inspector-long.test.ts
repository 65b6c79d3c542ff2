import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createGate, inspectorAgents } from './agents-inspector.js'
import { formatRunFile } from '../src/inspector/model/run-file.js'
import { longRun } from './inspector-runs.js'
import { useConsole } from './rig.js'

const rig = useConsole(() => ({ agents: inspectorAgents(createGate) }))

async function openRun(size: number): Promise<Page> {
  const path = join(tmpdir(), `long-${size}.run.json`)
  writeFileSync(path, formatRunFile(longRun(size)))
  const page = await rig.open('#/inspect')
  await page.locator('input[type=file]').setInputFiles(path)
  await page.locator('.run-head').getByText('valid').waitFor()
  await page.getByRole('tab', { name: 'Client' }).click()
  return page
}

/** The median time of a frame while the list is scrolled, or the slider moved, from one end to the other. */
async function frameTime(page: Page, work: 'scroll' | 'jump'): Promise<number> {
  return page.evaluate<number>(`(async () => {
    const box = document.querySelector('.event-list-box')
    const slider = document.querySelector('.transport-slider')
    const { set: setValue } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
    const steps = 40
    const times = []
    for (let step = 0; step < steps; step++) {
      const started = performance.now()
      const part = ((step * 17) % steps) / steps
      if (${work === 'scroll'}) box.scrollTop = part * box.scrollHeight
      else {
        setValue.call(slider, String(Math.floor(part * Number(slider.max))))
        slider.dispatchEvent(new Event('input', { bubbles: true }))
      }
      // Two frames: the work is done in the first, and shown in the second.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      times.push(performance.now() - started)
    }
    return times.sort((a, b) => a - b)[steps / 2]
  })()`)
}

it('50,000 events scroll and jump about as smoothly as 50', async () => {
  const short = await openRun(50)
  const few = { scroll: await frameTime(short, 'scroll'), jump: await frameTime(short, 'jump') }
  await short.close()
  const long = await openRun(50_000)
  expect(await long.locator('.event-row').count()).toBeLessThan(100)
  const many = { scroll: await frameTime(long, 'scroll'), jump: await frameTime(long, 'jump') }
  const ratios = { scroll: many.scroll / few.scroll, jump: many.jump / few.jump }
  expect(ratios.scroll).toBeLessThan(3)
  expect(ratios.jump).toBeLessThan(3)
  await long.locator('.event-list-box').focus()
  await long.keyboard.press('End')
  await long.locator('.event-row[aria-selected=true]').getByText('RUN_FINISHED').waitFor()
})

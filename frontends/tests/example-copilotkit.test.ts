import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { patience } from './front-end.js'

const folder = join(import.meta.dirname, '..', '..', 'examples', 'copilotkit')

/** Starts the example as its README says, on threads of its own, and resolves to the address that it prints. */
async function startExample(threads: string, port: number) {
  const example = spawn(process.execPath, ['start.mjs'], {
    cwd: folder,
    // The demo model, whatever keys this machine has.
    env: { PATH: process.env.PATH ?? '', PORT: String(port), THREADS: threads },
  })
  let printed = ''
  for (const stream of [example.stdout, example.stderr])
    stream.on('data', (text: Buffer) => void (printed += text.toString()))
  await expect.poll(() => printed, { timeout: 30_000 }).toMatch(/Open http/)
  return {
    url: `http://localhost:${port}/`,
    async stop() {
      const ended = once(example, 'exit')
      example.kill()
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

it('the example starts with one command, and has its threads after it was started again', async () => {
  const threads = mkdtempSync(join(tmpdir(), 'millrace-example-'))
  onTestFinished(() => rmSync(threads, { recursive: true, force: true }))
  const browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? '',
    chromiumSandbox: false,
    args: ['--no-first-run', '--disable-gpu', '--disable-background-networking'],
  })
  onTestFinished(() => browser.close())
  const port = await freePort()
  const first = await startExample(threads, port)
  const page = await browser.newPage()
  const screenshots = process.env.FRONTENDS_SCREENSHOTS ?? threads
  mkdirSync(screenshots, { recursive: true })
  onTestFinished(async () => {
    await page.screenshot({ path: join(screenshots, 'example-copilotkit.png') })
  })
  const reported: string[] = []
  page.on('pageerror', (error) => reported.push(error.message))
  const say = async (text: string) => {
    await page.getByTestId('copilot-chat-textarea').fill(text)
    await page.getByTestId('copilot-send-button').click()
  }
  await page.goto(first.url)
  await say('What is the weather in Oslo?')
  const weather = page.getByTestId('weather')
  await expect.poll(() => weather.allTextContents(), { timeout: 20_000 }).toEqual(['Oslo: 7 °C'])
  // Under a complete answer. Before that, the button stops the run in place of sending.
  await page.getByTestId('copilot-copy-button').first().waitFor()
  await say('Book a table for 2 guests.')
  const approval = page.getByTestId('approval')
  await approval.getByText('Book a table for 2?').waitFor({ timeout: 20_000 })
  await first.stop()
  const second = await startExample(threads, port)
  onTestFinished(() => second.stop())
  await page.reload()
  await expect.poll(() => weather.allTextContents(), { timeout: 20_000 }).toEqual(['Oslo: 7 °C'])
  await approval.getByRole('button', { name: 'Yes' }).click()
  const last = page.locator('.copilotKitAssistantMessage').last()
  await expect.poll(() => last.textContent(), patience).toContain('booked')
  await page.getByRole('button', { name: 'Refresh' }).click()
  const named = page.getByTestId('thread').locator('a')
  await expect.poll(() => named.allTextContents(), patience).toEqual(['What is the weather in Oslo?'])
  expect(reported).toEqual([])
}, 120_000)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

/** An example with a page, as people start it. */
export interface Example {
  /** Its folder below `examples`. */
  readonly name: string
  /** The arguments of npm: `['start']`. */
  readonly command: readonly string[]
}

export interface StartedExample {
  readonly url: string
  readonly page: Page
  /** Ends page server and agent server, and starts them anew on the same threads and the same port. */
  readonly restart: () => Promise<void>
  /** What the page has reported: nothing, if all is well. */
  readonly reported: () => readonly string[]
}

/** Starts an example with its documented command, on threads of its own, and opens its page. Ends both after the test. */
export async function startExample({ name, command }: Example): Promise<StartedExample> {
  const threads = mkdtempSync(join(tmpdir(), 'millrace-example-'))
  const port = await freePort()
  const start = () =>
    startProcess(join(import.meta.dirname, '../../examples', name), command, { threads, port })
  let running = await start()
  onTestFinished(async () => {
    await running.stop()
    rmSync(threads, { recursive: true, force: true })
  })
  const { page, reported } = await openPage(`example-${name}`, threads)
  const url = `http://localhost:${port}`
  await page.goto(url)
  return {
    url,
    page,
    reported: () => reported,
    async restart() {
      await running.stop()
      running = await start()
    },
  }
}

interface Place {
  readonly threads: string
  readonly port: number
}

/** Resolves when the page can be opened. npm has children: they are ended together, as a group. */
async function startProcess(cwd: string, command: readonly string[], { threads, port }: Place) {
  const env = {
    // The demo model, whatever keys this machine has, and slowly enough to leave the page in the middle of a story.
    ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', PACE_MS: '100' },
    ...{ PORT: String(port), THREADS: threads, NEXT_TELEMETRY_DISABLED: '1' },
  }
  const child = spawn('npm', command, { cwd, env, detached: true })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => void (printed += text.toString()))
  const ended = once(child, 'exit')
  const stop = async () => {
    const group = -(child.pid ?? 0)
    if (isAlive(group)) process.kill(group)
    await ended
    // npm does not wait for what it has started.
    await expect.poll(() => isAlive(group), { timeout: 30_000 }).toBe(false)
  }
  try {
    await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/http:\/\/localhost/)
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

function isAlive(group: number): boolean {
  try {
    return process.kill(group, 0)
  } catch {
    return false
  }
}

async function openPage(name: string, threads: string) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? '',
    chromiumSandbox: false,
    args: ['--no-first-run', '--disable-gpu', '--disable-background-networking'],
  })
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 } })
  const reported: string[] = []
  page.on('pageerror', (error) => reported.push(error.message))
  page.on('console', (line) => {
    if (line.type() === 'error') reported.push(line.text())
  })
  const screenshots = process.env.FRONTENDS_SCREENSHOTS ?? threads
  mkdirSync(screenshots, { recursive: true })
  onTestFinished(async () => {
    await page.screenshot({ path: join(screenshots, `${name}.png`) })
    await browser.close()
  })
  return { page, reported }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

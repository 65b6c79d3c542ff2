import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page, type Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { startCopilotKit } from './copilotkit-process.js'
import { servePages } from './serve-pages.js'

/** The pages of the Dojo in a browser, in front of `examples/dojo`, which runs as its users start it. */
export interface DojoRig {
  /** Opens a page: `kit-shared_state`. With `runtime`, CopilotKit's runtime stands between page and server. */
  open(agent: string, options?: { readonly runtime?: boolean }): Promise<Page>
  /** Errors that the test expects the page to report. */
  expectReports(fits: RegExp): void
}

interface Running {
  open: DojoRig['open']
  endTest(name: string, expected: readonly RegExp[]): Promise<void>
  close(): Promise<void>
}

export function useDojoRig(agents: readonly string[]): DojoRig {
  let running: Running | undefined
  const expected: RegExp[] = []
  beforeAll(async () => {
    running = await start(agents)
  })
  afterEach(({ task }) => running?.endTest(`${task.suite?.name ?? ''} ${task.name}`, expected.splice(0)))
  afterAll(() => running?.close())
  return {
    open(...given) {
      if (!running) throw new Error('Nothing has started. Run these tests with `npm run test:frontends`.')
      return running.open(...given)
    },
    expectReports: (fits) => void expected.push(fits),
  }
}

async function start(agents: readonly string[]): Promise<Running> {
  const screenshots = process.env.FRONTENDS_SCREENSHOTS ?? tmpdir()
  mkdirSync(screenshots, { recursive: true })
  const pages = await servePages(join(import.meta.dirname, '..', 'dist'))
  const server = await startExample(pages.url)
  const runtime = await startCopilotKit(server.url, agents)
  const browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? '',
    chromiumSandbox: false,
    args: ['--no-first-run', '--disable-gpu', '--disable-background-networking'],
  })
  const open: Page[] = []
  const reported: string[] = []
  let threads = 0
  return {
    async open(agent, { runtime: isBetween = false } = {}) {
      const page = await (await browser.newContext({ viewport: { width: 900, height: 900 } })).newPage()
      open.push(page)
      page.on('pageerror', (error) => reported.push(error.message))
      page.on('console', (line) => {
        if (line.type() === 'error') reported.push(line.text())
      })
      const query = new URLSearchParams({
        runtime: isBetween ? `${runtime.url}/v1` : `${server.url}/copilotkit`,
        ...{ agent, feature: agent.slice(agent.indexOf('-') + 1), thread: `dojo-${++threads}` },
      })
      const connected = page.waitForEvent('requestfinished', isConnect)
      await page.goto(`${pages.url}/dojo/?${query.toString()}`)
      await page.getByTestId('copilot-chat-textarea').waitFor()
      await connected
      return page
    },
    async endTest(test, expected) {
      for (const page of open.splice(0)) {
        await page.screenshot({ path: join(screenshots, `dojo-${test.replaceAll(/\W+/g, '-')}.png`) })
        await page.context().close()
      }
      const unexpected = reported.splice(0).filter((text) => !expected.some((fits) => fits.test(text)))
      expect(unexpected, 'what the page has reported').toEqual([])
      expect(runtime.isAlive(), "whether CopilotKit's runtime is alive").toBe(true)
    },
    async close() {
      await browser.close()
      await runtime.stop()
      await server.stop()
      pages.close()
    },
  }
}

/** Starts the example on a free port, without the keys that this machine may have. */
async function startExample(origin: string) {
  const script = join(import.meta.dirname, '..', '..', 'examples', 'dist', 'dojo', 'start.js')
  const child = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, PORT: '0', ORIGIN: origin, DOJO_STEP_MS: '150' },
  })
  const ended = once(child, 'close')
  let text = ''
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const [, address] = /agents are at (http:\S+)\/agents/.exec(text) ?? []
        if (address !== undefined) resolve(address)
      })
    child.on('close', () => reject(new Error(`examples/dojo did not start: ${text}`)))
  })
  const stop = async () => {
    child.kill()
    await ended
  }
  return { url, stop }
}

function isConnect(request: Request): boolean {
  return request.postData()?.includes('agent/connect') === true
}

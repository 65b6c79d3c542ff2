import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type Page, type Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Message } from '@ag-ui/core'
import type { ModelRequest } from '../../src/models/index.js'
import { createServer, type Logger } from '../../src/server/index.js'
import { serve, type Serving } from '../../src/server/node.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { stageAloneAgents } from './alone-agents.js'
import { servePages } from './serve-pages.js'

/** CopilotKit's front end in a browser, and a server with threads in a file: nothing between them. */
export interface AloneRig {
  /** Opens the page in a window of its own, on the thread of this test. */
  open(agent: string, query?: Readonly<Record<string, string>>): Promise<Page>
  /** Waits until the page has asked for its thread again. */
  reload(page: Page): Promise<void>
  countOn(): void
  stops(): number
  digging(): Promise<void>
  /** The messages that the server has stored of the thread of this test. */
  stored(agent: string): Promise<readonly Message[]>
  /** What the model of the agent `guide` has seen. */
  seen(): readonly ModelRequest[]
  /** Ends the server at once, and starts another on the same file and port. */
  restartServer(): Promise<void>
  /** Errors that the test expects page and server to report. */
  expectReports(fits: RegExp): void
  readonly thread: () => string
}

interface PageOptions {
  /** The folder of the page. */
  readonly page?: string
  /** What to add to its address in every test. */
  readonly query?: Readonly<Record<string, string>>
}

interface Running extends Omit<AloneRig, 'expectReports'> {
  endTest(name: string, expected: readonly RegExp[]): Promise<void>
  close(): Promise<void>
}

export function useAloneRig(
  name: string,
  { page = 'copilotkit-alone', query = {} }: PageOptions = {},
): AloneRig {
  let running: Running | undefined
  const expected: RegExp[] = []
  const rig = (): Running => {
    if (!running) throw new Error('Nothing has started. Run these tests with `npm run test:frontends`.')
    return running
  }
  beforeAll(async () => {
    running = await start(name, { page, query })
  })
  afterEach(({ task }) => rig().endTest(task.name, expected.splice(0)))
  afterAll(() => running?.close())
  return {
    open: (...given) => rig().open(...given),
    reload: (page) => rig().reload(page),
    countOn: () => rig().countOn(),
    stops: () => rig().stops(),
    digging: () => rig().digging(),
    stored: (agent) => rig().stored(agent),
    seen: () => rig().seen(),
    restartServer: () => rig().restartServer(),
    thread: () => rig().thread(),
    expectReports: (fits) => void expected.push(fits),
  }
}

async function start(
  name: string,
  { page: folderOfPage, query: common }: Required<PageOptions>,
): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-alone-'))
  const screenshots = process.env.FRONTENDS_SCREENSHOTS ?? folder
  mkdirSync(screenshots, { recursive: true })
  const logged: string[] = []
  const reported: string[] = []
  const elsewhere: string[] = []
  const { agents, countOn, stops, digging, letGo, seen } = stageAloneAgents()
  const pages = await servePages(join(import.meta.dirname, '..', 'dist'))
  const startServer = async (port: number): Promise<Serving> => {
    const store = await createSqliteStore({ path: join(folder, 'threads.db') })
    const cors = { origins: [pages.url] }
    return serve(createServer({ agents, store, cors, copilotKit: true, log: loggerTo(logged) }), {
      port,
      signals: false,
    })
  }
  let server = await startServer(0)
  const browser: Browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? '',
    chromiumSandbox: false,
    args: [
      '--no-first-run',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  })
  let tests = 0
  const open: Page[] = []
  const thread = (): string => `${name}-${tests}`
  return {
    ...{ countOn, stops, digging },
    seen: () => seen,
    async stored(agent) {
      const response = await fetch(`${server.url}/agents/${agent}/message_snapshot/${thread()}`)
      return ((await response.json()) as { readonly messages: readonly Message[] }).messages
    },
    thread,
    async open(agent, query = {}) {
      const page = await (await browser.newContext({ viewport: { width: 900, height: 1000 } })).newPage()
      open.push(page)
      page.on('pageerror', (error) => reported.push(error.message))
      page.on('console', (line) => {
        if (line.type() === 'error') reported.push(line.text())
      })
      page.on('request', (request) => {
        if (!isLocal(request)) elsewhere.push(request.url())
      })
      const runtime = `${server.url}/copilotkit`
      const all = { server: server.url, runtime, agent, thread: thread(), ...common, ...query }
      const connected = page.waitForEvent('requestfinished', isConnect)
      await page.goto(`${pages.url}/${folderOfPage}/?${new URLSearchParams(all).toString()}`)
      await page.getByTestId('copilot-chat-textarea').waitFor()
      if (query.isRunning !== 'true') await connected
      return page
    },
    async reload(page) {
      const asked = page.waitForEvent('request', isConnect)
      await page.reload()
      await asked
    },
    async restartServer() {
      const port = Number(new URL(server.url).port)
      await server.close({ graceMs: 0 })
      server = await startServer(port)
    },
    async endTest(test, expected) {
      letGo()
      tests++
      seen.length = 0
      for (const [index, page] of open.splice(0).entries()) {
        const file = `${name} ${test} ${index + 1}`.replaceAll(/\W+/g, '-')
        await page.screenshot({ path: join(screenshots, `${file}.png`) })
        await page.context().close()
      }
      const isUnexpected = (text: string): boolean => !expected.some((fits) => fits.test(text))
      // All of them are taken before the first can fail: the next test has none of them.
      const [fromServer, fromPage, others] = [logged, reported, elsewhere].map((list) => list.splice(0))
      expect(fromServer?.filter(isUnexpected), 'what the server has logged').toEqual([])
      expect(fromPage?.filter(isUnexpected), 'what the page has reported').toEqual([])
      expect(others, 'what the page has asked of others').toEqual([])
    },
    async close() {
      await browser.close()
      await server.close({ graceMs: 0 })
      pages.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isLocal(request: Request): boolean {
  const { protocol, hostname } = new URL(request.url())
  return protocol === 'data:' || protocol === 'blob:' || hostname === '127.0.0.1'
}

function isConnect(request: Request): boolean {
  return request.url().endsWith('/connect') || request.postData()?.includes('agent/connect') === true
}

function loggerTo(logged: string[]): Logger {
  const nothing = () => undefined
  const error = (facts: object, message: string) => void logged.push(`${message} ${JSON.stringify(facts)}`)
  return { debug: nothing, info: nothing, warn: nothing, error }
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type ConsoleMessage, type Page, type Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Message } from '@ag-ui/core'
import { systemClock, type Clock } from '../../src/core/clock.js'
import { createServer, type Logger } from '../../src/server/index.js'
import { serve } from '../../src/server/node.js'
import { cuttingProxy } from '../../test/e2e/support-proxy.js'
import { stageAgents } from './agents.js'
import { startCopilotKit, type RuntimeProcess } from './copilotkit-process.js'
import type { FrontEnd } from './front-end.js'
import { servePages } from './serve-pages.js'

/** All that stands between a scripted model and a person: server, perhaps CopilotKit's runtime, page, browser. */
export interface Rig {
  /** Opens the page in a window of its own, on the thread of this test. */
  open(agent: string): Promise<Page>
  /** Lets the agent `chat` count on, by one number. */
  countOn(): void
  /** How many models have been told to stop while they counted. */
  stops(): number
  /** How many runs nobody follows, and lets the time pass that they have. */
  abandoned(): number
  passAbandonedTime(): void
  /** Resolves when the tool of `digger` is at work, which ignores its signal. */
  digging(): Promise<void>
  /** The messages that the server has stored of the thread of this test. */
  stored(agent: string): Promise<readonly Message[]>
  /** Ends CopilotKit's runtime and starts it anew. */
  restartRuntime(): Promise<void>
}

/** A rig whose pages reach the server by a wire that can break. */
export interface WiredRig extends Rig {
  /** Breaks all connections between page and server. */
  drop(): void
}

interface RunningRig extends WiredRig {
  /** Takes screenshots, closes the windows, and checks what was reported meanwhile. */
  endTest(name: string): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the rig for the tests of a file or a `describe`. After each test the page must have reported no error, the server
 * must have logged none, and CopilotKit's runtime must be alive.
 */
export function useRig(frontEnd: FrontEnd): WiredRig {
  let running: RunningRig | undefined
  beforeAll(async () => {
    running = await startRig(frontEnd)
  })
  afterEach(({ task }) => started(running).endTest(task.name))
  afterAll(() => running?.close())
  return {
    open: (agent) => started(running).open(agent),
    countOn: () => started(running).countOn(),
    stops: () => started(running).stops(),
    abandoned: () => started(running).abandoned(),
    passAbandonedTime: () => started(running).passAbandonedTime(),
    digging: () => started(running).digging(),
    stored: (agent) => started(running).stored(agent),
    restartRuntime: () => started(running).restartRuntime(),
    drop: () => started(running).drop(),
  }
}

async function startRig(frontEnd: FrontEnd): Promise<RunningRig> {
  const logged: string[] = []
  const { agents, countOn, stops, digging, letGo } = stageAgents()
  const { clock, held } = heldClock()
  const pages = await servePages(join(import.meta.dirname, '..', 'dist'))
  const cors = { origins: [pages.url] }
  const server = await serve(
    createServer({ agents, cors, clock, limits: { abandonedMs }, log: loggerTo(logged) }),
    {
      port: 0,
      signals: false,
    },
  )
  const wire = await cuttingProxy(server.url, [])
  const startRuntime = () =>
    startCopilotKit(
      server.url,
      agents.map(({ name }) => name),
    )
  let runtime = frontEnd.endpoint === undefined ? undefined : await startRuntime()
  const windows = await openBrowser(frontEnd)
  let tests = 0
  const threadOf = () => `${frontEnd.name}-${tests}`
  return {
    ...{ countOn, stops, digging },
    abandoned: () => held.size,
    passAbandonedTime() {
      for (const expire of held) expire()
    },
    async stored(agent) {
      const response = await fetch(`${server.url}/agents/${agent}/message_snapshot/${threadOf()}`)
      return ((await response.json()) as { readonly messages: readonly Message[] }).messages
    },
    open(agent) {
      const thread = threadOf()
      const query = {
        server: wire.url,
        agent,
        thread,
        ...runtimeQuery(frontEnd, runtime),
        ...frontEnd.query,
      }
      return windows.open(`${pages.url}/${frontEnd.page}/?${new URLSearchParams(query).toString()}`)
    },
    async restartRuntime() {
      await runtime?.stop()
      runtime = await startRuntime()
    },
    drop: () => wire.dropAll(),
    async endTest(name) {
      letGo()
      tests++
      const reported = await windows.closeAll(`${frontEnd.name} ${name}`)
      const dead = runtime?.isAlive() === false ? runtime : undefined
      if (dead) runtime = await startRuntime()
      expect(dead, `CopilotKit's runtime has ended: ${dead?.printed().slice(-2000) ?? ''}`).toBeUndefined()
      expect(logged.splice(0), 'what the server has logged').toEqual([])
      expect(reported, 'what the page has reported').toEqual([])
    },
    async close() {
      await windows.close()
      await runtime?.stop()
      await wire.close()
      await server.close({ graceMs: 0 })
      pages.close()
    },
  }
}

/** Unlike any other time. */
const abandonedMs = 15_001

/** The real time, except for runs that nobody follows: they have the time that a test gives them. */
function heldClock() {
  const held = new Set<() => void>()
  const clock: Clock = {
    now: () => systemClock.now(),
    schedule(ms, callback) {
      if (ms !== abandonedMs) return systemClock.schedule(ms, callback)
      const expire = () => {
        held.delete(expire)
        callback()
      }
      held.add(expire)
      return () => void held.delete(expire)
    },
  }
  return { clock, held }
}

function runtimeQuery({ endpoint }: FrontEnd, runtime: RuntimeProcess | undefined): { runtime?: string } {
  return endpoint === undefined || !runtime ? {} : { runtime: runtime.url + endpoint }
}

const flags = [
  ...['--no-first-run', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

/** A browser with a fresh profile, and the windows of one test. */
async function openBrowser(frontEnd: FrontEnd) {
  const browser: Browser = await chromium.launch({
    executablePath: started(process.env.CHROME_PATH),
    chromiumSandbox: false,
    args: flags,
  })
  const screenshots = started(process.env.FRONTENDS_SCREENSHOTS)
  mkdirSync(screenshots, { recursive: true })
  const open: Page[] = []
  const reported: string[] = []
  return {
    async open(address: string): Promise<Page> {
      const context = await browser.newContext({ viewport: { width: 900, height: 1000 } })
      const page = await context.newPage()
      open.push(page)
      page.on('pageerror', (error) => reported.push(error.message))
      page.on('console', (line) => {
        if (line.type() === 'error' && !isNewThread(line) && !isDropped(line)) reported.push(line.text())
      })
      // Before that, CopilotKit's button stops what it has begun, in place of sending.
      const connects = frontEnd.endpoint !== undefined || frontEnd.connects === true
      const connected = connects && page.waitForEvent('requestfinished', isConnect)
      await page.goto(address)
      await frontEnd.input(page).waitFor()
      await connected
      return page
    },
    async closeAll(name: string): Promise<string[]> {
      for (const [index, page] of open.splice(0).entries()) {
        const file = `${name} ${index + 1}`.replaceAll(/\W+/g, '-')
        await page.screenshot({ path: join(screenshots, `${file}.png`) })
        await page.context().close()
      }
      return reported.splice(0)
    },
    close: () => browser.close(),
  }
}

/** Whether a page of CopilotKit asks its runtime for what it has of the thread. */
function isConnect(request: Request): boolean {
  return request.url().endsWith('/connect') || request.postData()?.includes('agent/connect') === true
}

/** A page that asks for a thread that is not there yet is told so, and the browser reports it. */
function isNewThread(line: ConsoleMessage): boolean {
  return line.location().url.includes('_snapshot/') && line.text().includes('404')
}

/** A connection that the test has broken: the browser says so, and the page has to cope. */
function isDropped(line: ConsoleMessage): boolean {
  return /net::ERR_(INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/.test(line.text())
}

function loggerTo(logged: string[]): Logger {
  const nothing = () => undefined
  const error = (facts: object, message: string) => void logged.push(`${message} ${JSON.stringify(facts)}`)
  return { debug: nothing, info: nothing, warn: nothing, error }
}

function started<T>(value: T | undefined): T {
  if (value === undefined)
    throw new Error('Nothing has started. Run these tests with `npm run test:frontends`.')
  return value
}

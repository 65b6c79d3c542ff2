import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { createServer, type Logger, type ServerOptions } from '../../src/server/index.js'
import { serve, type Serving } from '../../src/server/node.js'

const screenshots = join(tmpdir(), 'millrace-console')

export const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

/** A server with agents, the console, and a browser. */
export interface ConsoleRig {
  readonly url: string
  /** Opens a place of the console (`#/runs`) in a window of its own, in English and light unless the options say otherwise. */
  open(hash?: string, options?: BrowserContextOptions): Promise<Page>
  /** Closes the server and starts it anew on the same port. */
  restart(): Promise<void>
  /** Errors of the page that a test expects, such as a request that must fail. */
  allow(error: RegExp): void
}

/** Starts the rig for the tests of a file. After each test, no page may have reported an error or asked another host. */
export function useConsole(makeOptions: () => ServerOptions | Promise<ServerOptions>): ConsoleRig {
  let browser: Browser | undefined
  let serving: Serving | undefined
  const pages: Page[] = []
  const faults: string[] = []
  const allowed: RegExp[] = []
  const logged: string[] = []

  const start = async (port: number): Promise<void> => {
    const options = await makeOptions()
    serving = await serve(createServer({ console: true, log: loggerTo(logged), ...options }), {
      port,
      signals: false,
    })
  }
  const url = (): string => {
    if (!serving) throw new Error('The rig has not started.')
    return serving.url
  }
  beforeAll(async () => {
    mkdirSync(screenshots, { recursive: true })
    const args = [
      '--no-sandbox',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
    ]
    browser = await chromium.launch({ executablePath: inject('browser'), args })
    await start(0)
  })
  afterEach(async ({ task }) => {
    const name = `${task.suite?.name ?? ''} ${task.name}`.replace(/\W+/g, '-').slice(0, 90)
    for (const [index, page] of pages.splice(0).entries()) {
      await page.screenshot({ path: join(screenshots, `${name}-${index}.png`) }).catch(() => undefined)
      await page.context().close()
    }
    const unexpected = [...faults.splice(0), ...logged.splice(0)].filter(
      (fault) => !allowed.some((pattern) => pattern.test(fault)),
    )
    allowed.length = 0
    expect(unexpected).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await serving?.close({ graceMs: 0 })
  })
  return {
    get url() {
      return url()
    },
    async open(hash = '', options = {}) {
      if (!browser) throw new Error('The rig has not started.')
      const context = await browser.newContext({
        ...{
          viewport: desktop,
          locale: 'en',
          colorScheme: 'light',
          permissions: ['clipboard-read', 'clipboard-write'],
        },
        ...options,
      })
      context.setDefaultTimeout(20_000)
      const page = await context.newPage()
      pages.push(page)
      page.on('pageerror', (error) => faults.push(`page: ${error.stack ?? error.message}`))
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
          faults.push(`console: ${message.text()}`)
      })
      page.on('request', (request) => {
        const address = request.url()
        if (!address.startsWith(url()) && !/^(data|blob):/.test(address)) faults.push(`request to ${address}`)
      })
      await page.goto(`${url()}/console/${hash}`)
      return page
    },
    async restart() {
      const { port } = new URL(url())
      await serving?.close({ graceMs: 0 })
      await start(Number(port))
    },
    allow: (error) => allowed.push(error),
  }
}

function loggerTo(lines: string[]): Logger {
  const note =
    (level: string) =>
    (fields: object, message?: string): void =>
      void lines.push(`server ${level}: ${message ?? ''} ${JSON.stringify(fields)}`)
  const nothing = (): void => undefined
  return { debug: nothing, info: nothing, warn: note('warn'), error: note('error') }
}

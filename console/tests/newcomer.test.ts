import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const minutes = 60_000

/** What a README tells somebody who has just cloned the repository. */
function quickStart(name: string) {
  const text = readFileSync(join(root, name), 'utf8')
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(text) ?? []
  return {
    commands: block
      .trim()
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim()),
    steps: [...text.matchAll(/^\d\. \*\*(.+?)\*\* .*?`(\w+)`/gm)].map(([, title = '', agent = '']) => ({
      title: title.replace(/[.。]$/, ''),
      agent,
    })),
    address: /http:\/\/127\.0\.0\.1:\d+/.exec(block)?.[0],
  }
}

/** The files of the repository, without anything built, and the packages that `npm ci` would install. */
function cloneTo(folder: string): void {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file), { force: true })
  }
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@millrace'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== 'millrace' && name !== '@millrace' && !name.startsWith('.'))
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
  symlinkSync(folder, join(modules, 'millrace'))
  symlinkSync(join(folder, 'console'), join(modules, '@millrace', 'console'))
}

interface Demo {
  readonly url: string
  readonly printed: string
  stop(): Promise<void>
}

/** Runs a command of the README as a shell does. The port is any that is free: 4111 may be in use. */
async function startAt(folder: string, command: string, port = '0'): Promise<Demo> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: port }
  const child = spawn(command, { cwd: folder, env, shell: true, detached: true })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes('--help tells')) resolve()
      })
    child.on('close', () => reject(new Error(output)))
  })
  const url = /http:\S+/.exec(output)?.[0] ?? ''
  return { url, printed: output, stop: () => interrupt(child) }
}

/** Ctrl-C goes to all that the shell has started. */
async function interrupt(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  process.kill(-child.pid, 'SIGINT')
  await once(child, 'close')
}

const { commands, steps, address } = quickStart('README.md')

test('both READMEs tell the same', () => {
  const chinese = quickStart('README.zh-CN.md')
  expect(chinese.commands).toEqual(commands)
  expect(chinese.address).toBe(address)
  expect(chinese.steps.map(({ agent }) => agent)).toEqual(steps.map(({ agent }) => agent))
})

describe('somebody who does what the README says', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-newcomer-'))
  let demo: Demo
  let browser: Browser
  let page: Page
  const faults: string[] = []

  beforeAll(async () => {
    cloneTo(folder)
    const [install, start = ''] = (commands[0] ?? '').split(' && ')
    expect(install).toBe('npm ci')
    demo = await startAt(folder, start)
    browser = await chromium.launch({ executablePath: inject('browser'), args: ['--no-sandbox'] })
    page = await browser.newPage({ locale: 'en' })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(demo.url) && !/^(data|blob):/.test(url)) faults.push(`request to ${url}`)
    })
    return async () => {
      await browser.close()
      await demo.stop()
    }
  }, 12 * minutes)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function choose(agent: string): Promise<void> {
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(agent)
    await page.waitForURL(`**/#/chat/${agent}`)
  }

  const log = () => page.getByRole('log')

  test('sees what is built, one address, and the same things to try', async () => {
    expect(demo.printed).toMatch(/Building the server \(1 of 2\)[\s\S]*Building the console \(2 of 2\)/)
    const said = demo.printed.slice(demo.printed.indexOf(demo.url))
    for (const { title, agent } of steps)
      expect(said).toMatch(new RegExp(`^ *${title} {2,}.*\\b${agent}\\b`, 'm'))
    expect(address).toBe('http://127.0.0.1:4111')
    await page.goto(demo.url)
    await page.waitForURL('**/console/**')
    await expect.poll(() => page.getByRole('combobox', { name: 'Agent' }).locator('option').count()).toBe(10)
  })

  test('1. talks, and reloads in the middle of the story', async () => {
    await choose('chat')
    await page.getByRole('button', { name: 'Tell me a story.' }).click()
    await log()
      .getByText(/^Once a mill stood still/)
      .waitFor()
    await page.reload()
    await log()
      .getByText(/Once a mill stood still[\s\S]*\.$/)
      .waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    await page.getByText('Tell me a story.').first().waitFor()
  })

  test('2. approves after a restart of the server', async () => {
    await choose('approval')
    await page.getByRole('button', { name: 'Book a table for 2 at Maaemo.' }).click()
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const { port } = new URL(demo.url)
    await demo.stop()
    demo = await startAt(folder, (commands[0] ?? '').split(' && ')[1] ?? '', port)
    expect(demo.printed).not.toContain('Building')
    await page.getByRole('button', { name: 'Approve' }).click()
    await log().getByText('The table is booked.').first().waitFor()
  })

  test('3. looks inside four runtimes', async () => {
    await page.goto(`${demo.url}/console/#/chat`)
    await choose('mixed')
    await page.getByRole('button', { name: /^Plan a day in Oslo/ }).click()
    for (const text of [
      'It is 7 °C',
      'A room in the Grand Oslo',
      'The museum of Oslo',
      'Dinner at the Old Mill',
    ])
      await page.getByText(text).first().waitFor()
    const menu = page.getByRole('navigation', { name: 'Menu' })
    await menu.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('row').filter({ hasText: 'Plan a day in Oslo' }).getByText('completed').waitFor()
    await menu.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('navigation', { name: 'Agents' }).getByRole('link', { name: 'mixed' }).click()
    const picture = page.getByRole('group', { name: 'What mixed is made of' })
    for (const name of ['weather', 'sights', 'dinner', 'rooms'])
      await picture.getByText(name, { exact: true }).waitFor()
    expect(faults).toEqual([])
  })
})

/**
 * Takes the pictures of docs/images from the demo: `node console/screenshots.mjs`, after `npm run build`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { findBrowser } from '../scripts/find-browser.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const images = join(root, 'docs', 'images')
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

/** What is on each picture, and the size of its window. */
const pictures = {
  'chat-team': [
    'desktop',
    '#/chat/team',
    (page) => say(page, 'How is the weather in Oslo, and what does a room cost there?', 'Anything else?'),
  ],
  approval: [
    'desktop',
    '#/chat/approval',
    (page) => say(page, 'Book a table for 2 at Maaemo.', 'Book a table for 2 at Maaemo?'),
  ],
  'approval-phone': [
    'phone',
    '#/chat/approval',
    (page) => say(page, 'Book a table for 2 at Maaemo.', 'Book a table for 2 at Maaemo?'),
  ],
  deep: [
    'desktop',
    '#/chat/deep',
    (page) => say(page, 'Compare the weather in Oslo and Bergen.', 'comparison.md.'),
  ],
  mixed: [
    'desktop',
    '#/chat/mixed',
    (page) =>
      say(
        page,
        'Plan a day in Oslo: the weather, a museum, a restaurant and a room.',
        'Dinner at the Old Mill',
      ),
  ],
  agents: ['desktop', '#/agents/mixed', (page) => page.getByText('dinner').first().waitFor()],
  runs: ['desktop', '#/runs', (page) => page.getByText('Plan a day in Oslo').first().waitFor()],
}

async function say(page, text, answer) {
  await page.getByRole('textbox', { name: 'Message' }).fill(text)
  await page.keyboard.press('Enter')
  await page.getByText(answer).first().waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
}

async function startDemo(folder) {
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs'), '--port', '0'], {
    env: { PATH: process.env.PATH, MILLRACE_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [text] = await once(child.stdout, 'data')
  return { child, url: /http:\S+/.exec(String(text))?.[0] }
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-pictures-'))
mkdirSync(images, { recursive: true })
const { child, url } = await startDemo(folder)
const browser = await chromium.launch({
  executablePath: findBrowser(),
  args: ['--no-sandbox', '--disable-background-networking'],
})
try {
  for (const [name, [size, hash, prepare]] of Object.entries(pictures))
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({
        viewport: sizes[size],
        colorScheme,
        locale: 'en',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      await page.goto(`${url}/console/${hash}`)
      await prepare(page)
      const bytes = await page.screenshot({ animations: 'disabled' })
      writeFileSync(join(images, `${name}-${colorScheme}.png`), bytes)
      console.log(`${name}-${colorScheme}.png ${Math.round(bytes.length / 1024)} KB`)
      await context.close()
    }
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await once(child, 'close')
  rmSync(folder, { recursive: true, force: true })
}

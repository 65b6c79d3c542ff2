import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { helperAgent } from './agents-yard.js'
import { useConsole } from './rig.js'

const rig = useConsole(() => ({ agents: [helperAgent()] }))

const firstLoad = 250 * 1024

test('the chat loads at most 250 KB, gzipped, until somebody can write', async () => {
  const page = await rig.open('#/chat/helper')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  const loaded: readonly string[] = await page.evaluate(
    '[location.origin + location.pathname, ...performance.getEntriesByType("resource").map(({ name }) => name)]',
  )
  const files = [...new Set(loaded)].filter((url) => /\/console\/(?!api\/)/.test(url))
  const sizes = await Promise.all(
    files.map(async (url) => gzipSync(new Uint8Array(await (await fetch(url)).arrayBuffer())).length),
  )
  expect(files.filter((url) => url.endsWith('.js')).length).toBeGreaterThan(0)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect(total, files.join('\n')).toBeGreaterThan(50 * 1024)
  expect(total, files.join('\n')).toBeLessThanOrEqual(firstLoad)
})

test('the policy of the page allows its own scripts and nothing else', async () => {
  const response = await fetch(`${rig.url}/console/`)
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
    ]),
  )
  expect(policy).not.toMatch(/unsafe/)
  expect(await response.text()).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/)
})

test('the policy holds: what is slipped into the page does not run, draw or call home', async () => {
  rig.allow(/Content Security Policy|violates|404/)
  const page = await rig.open('#/chat/helper')
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  const blocked: string = await page.evaluate(`new Promise((resolve) => {
    const seen = []
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      seen.push(effectiveDirective)
      if (seen.length === 4) resolve(seen.sort().join(' '))
    })
    const script = document.createElement('script')
    script.textContent = 'window.wasRun = true'
    document.body.append(script)
    const holder = document.createElement('div')
    holder.innerHTML = '<img src="x" onerror="window.wasRun = true"><p style="color: red"></p>'
    document.body.append(holder)
    fetch('http://192.0.2.1/').catch(() => undefined)
  })`)
  expect(blocked).toBe('connect-src script-src-attr script-src-elem style-src-attr')
  expect(await page.evaluate('window.wasRun')).toBeUndefined()
})

test('HTML of a model is drawn without what could run', async () => {
  const page = await rig.open('#/chat/helper')
  await page
    .getByRole('textbox', { name: 'Message' })
    .fill('<img src=x onerror="window.wasRun = 1"> <b>bold</b>')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('bold').first().waitFor()
  expect(await page.evaluate('window.wasRun')).toBeUndefined()
})

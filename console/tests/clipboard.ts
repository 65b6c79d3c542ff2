import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** What an action puts on the clipboard. */
export async function copiedBy(page: Page, action: () => Promise<void>): Promise<string> {
  await page.evaluate('navigator.clipboard.writeText("")')
  await action()
  const read = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()')
  await expect.poll(read).not.toBe('')
  return read()
}

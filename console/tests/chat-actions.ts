import type { Locator, Page } from 'playwright-core'

/** Writes a message and sends it with Enter. */
export async function say(page: Page, text: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill(text)
  await field.press('Enter')
}

/** Waits until no run is live. */
export async function atRest(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
}

/** What the agent has said, with these words in it. */
export function answer(page: Page, words: string): Locator {
  return page.locator('.answer', { hasText: words })
}

export function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((one) =>
    (one as unknown as { matches(selector: string): boolean }).matches(':focus'),
  )
}

/** A property of an element, as the page has it. */
export function propertyOf<T = number>(element: Locator, name: string): Promise<T> {
  return element.evaluate((one, key) => (one as unknown as Record<string, T>)[key] as T, name)
}

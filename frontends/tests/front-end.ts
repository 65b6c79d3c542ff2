import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** How a test reads and uses a page. */
export interface FrontEnd {
  readonly name: string
  /** The folder of its page, and what to add to its address. */
  readonly page: string
  readonly query?: Readonly<Record<string, string>>
  /** The endpoint of CopilotKit's runtime, for pages that need it. */
  readonly endpoint?: string
  /** Whether the page connects by itself when it loads, without a runtime. */
  readonly connects?: boolean
  readonly input: (page: Page) => Locator
  readonly send: (page: Page) => Locator
  readonly stop: (page: Page) => Locator
  /** Matches every message on the page; `user` those of the person. */
  readonly message: string
  readonly user: string
  /** What the page shows before anybody has said anything. */
  readonly greeting: readonly string[]
}

/** How long a page may take to show something, on a slow machine. */
export const patience = { timeout: 30_000 }

/** Writes a message and sends it. */
export async function say({ input, send }: FrontEnd, page: Page, text: string): Promise<void> {
  await input(page).fill(text)
  await send(page).click()
}

/** Waits until the page shows just this conversation, behind its greeting. */
export async function expectConversation(frontEnd: FrontEnd, page: Page, expected: readonly string[]) {
  const all = [...frontEnd.greeting, ...expected]
  await expect.poll(() => conversation(frontEnd, page), patience).toEqual(all)
}

/** The conversation as the page shows it, `user: Hello`: without tool calls, errors and messages that show nothing. */
async function conversation({ message, user }: FrontEnd, page: Page): Promise<string[]> {
  const shown = await page.locator(message).evaluateAll(readMessages, user)
  return shown
    .map(({ role, text }) => ({ role, text: text.trim().replaceAll(/\s+/g, ' ') }))
    .filter(({ text }) => text !== '')
    .map(({ role, text }) => `${role}: ${text}`)
}

/** What is needed of the browser's own type, which a test of Node does not have. */
interface Element {
  readonly textContent: string
  matches(selector: string): boolean
  cloneNode(deep: true): Element
  querySelectorAll(selector: string): Iterable<{ remove(): void }>
}

/** Runs in the browser. */
function readMessages(elements: readonly Element[], user: string) {
  return elements.map((element) => {
    const copy = element.cloneNode(true)
    for (const aside of copy.querySelectorAll('[data-tool], [data-error]')) aside.remove()
    return { role: element.matches(user) ? 'user' : 'assistant', text: copy.textContent }
  })
}

/** Waits until the list of the shared state shows these items. */
export async function expectList(page: Page, items: readonly string[]): Promise<void> {
  await expect.poll(() => page.getByTestId('list').locator('li').allTextContents(), patience).toEqual(items)
}

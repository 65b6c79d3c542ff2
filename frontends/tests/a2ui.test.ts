import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { basicCatalog } from '../../src/a2ui/index.js'
import { useAloneRig } from './alone-rig.js'
import { patience, say, type FrontEnd } from './front-end.js'

/** CopilotKit's page draws surfaces of A2UI, and the agent hears what a person does there: no runtime between them. */

const copilotKit: FrontEnd = {
  name: 'a2ui',
  page: 'copilotkit-alone',
  input: (page) => page.getByTestId('copilot-chat-textarea'),
  send: (page) =>
    page.getByTestId('copilot-send-button').filter({ has: page.locator('svg.lucide-arrow-up') }),
  stop: (page) => page.getByTestId('copilot-send-button'),
  message: '.copilotKitMessage',
  user: '.copilotKitUserMessage',
  greeting: [],
}

const rig = useAloneRig('a2ui')

function surface(page: Page, id: string): Locator {
  return page.locator(`[data-surface-id="${id}"]`)
}

function answered(page: Page, text: string): Promise<void> {
  return page.getByText(text, { exact: true }).last().waitFor(patience)
}

describe.each(['kit-artist', 'adk_artist', 'graph-artist'])('%s', (agent) => {
  it('draws the form that a model has written, hears what is filled in, and has it after a reload', async () => {
    const page = await rig.open(agent)
    await say(copilotKit, page, 'Plan a trip.')
    const form = surface(page, 'trip')
    await form.getByText('Your trip').waitFor(patience)
    await answered(page, 'Here you are.')
    await form.getByRole('textbox').fill('Bergen')
    await form.getByText('one').click()
    await form.getByRole('button', { name: 'Book' }).click()
    await answered(page, 'Booked {"city":"Bergen","nights":["one"]}.')
    await rig.reload(page)
    await answered(page, 'Booked {"city":"Bergen","nights":["one"]}.')
    expect(await form.count()).toBe(1)
    await form.getByRole('button', { name: 'Book' }).click()
    await answered(page, 'Booked {"city":"Oslo","nights":["two"]}.')
    await say(copilotKit, page, 'Hi')
    await answered(page, 'You said: Hi')
  })

  it('draws what a tool returns', async () => {
    const page = await rig.open(agent)
    await say(copilotKit, page, 'Show.')
    await surface(page, 'flights').getByRole('button', { name: 'DY 7' }).click()
    await answered(page, 'Booked {"flight":"DY 7"}.')
  })

  it('draws a surface that was wrong at first, and says so when it stays wrong', async () => {
    const page = await rig.open(agent)
    await say(copilotKit, page, 'Plan a shaky trip.')
    await surface(page, 'trip').getByRole('button', { name: 'Book' }).waitFor(patience)
    await say(copilotKit, page, 'Plan a broken trip.')
    await page.getByText("Couldn't generate the UI").waitFor(patience)
    await answered(page, 'I cannot draw that.')
    await say(copilotKit, page, 'Smash.')
    await expect.poll(() => page.getByText("Couldn't generate the UI").count(), patience).toBe(2)
    await say(copilotKit, page, 'Hi')
    await answered(page, 'You said: Hi')
    await rig.reload(page)
    await expect.poll(() => page.getByText("Couldn't generate the UI").count(), patience).toBe(2)
    expect(await surface(page, 'trip').count()).toBe(1)
  })
})

it('draws components of the page’s own', async () => {
  const page = await rig.open('kit-artist', { catalog: 'true' })
  await say(copilotKit, page, 'Plan a trip.')
  const ticket = surface(page, 'trip').getByTestId('ticket')
  await ticket.getByRole('button', { name: 'To Oslo' }).click()
  await answered(page, 'Booked {"city":"Oslo"}.')
})

it('knows the basic components as CopilotKit draws them', () => {
  // Types are checked before the front ends are installed.
  const renderer = createRequire(import.meta.url)('@copilotkit/a2ui-renderer') as {
    extractCatalogComponentSchemas(): PageCatalog
  }
  const { catalogId, components } = renderer.extractCatalogComponentSchemas()
  expect(basicCatalog.catalogId).toBe(catalogId)
  expect(Object.keys(basicCatalog.components).sort()).toEqual(Object.keys(components).sort())
  for (const [name, { allOf }] of Object.entries(components)) {
    const { required = [], properties = {} } = allOf[1] ?? {}
    const own = basicCatalog.components[name] as Required<PageCatalog['components'][string]['allOf'][number]>
    expect([...own.required].sort(), name).toEqual(required.filter((key) => key !== 'component').sort())
    expect(Object.keys(properties), name).toEqual(expect.arrayContaining(Object.keys(own.properties)))
  }
})

interface PageCatalog {
  readonly catalogId: string
  readonly components: Readonly<
    Record<
      string,
      { readonly allOf: readonly { readonly required?: string[]; readonly properties?: object }[] }
    >
  >
}

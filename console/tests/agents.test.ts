import { beforeEach, describe, expect, test } from 'vitest'
import type { AgentNode } from '../src/session/contract.js'
import { activeSpans, litBoxes } from '../src/agents/active-spans.js'
import { layoutAgent, type Picture, type Rect } from '../src/agents/layout.js'
import { createGate, graphAgent, helperAgent, teamAgent, waitingAgent } from './agents-yard.js'
import { postRun } from './post-run.js'
import { desktop, phone, useConsole } from './rig.js'

const gate = createGate()
beforeEach(() => gate.reset())

describe('the page of agents', () => {
  const rig = useConsole(() => ({
    agents: [helperAgent(), teamAgent(gate), graphAgent(gate), waitingAgent('slow', gate)],
    console: { toolCalls: true },
  }))

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('draws what an agent is made of (%s)', async (_name, viewport) => {
    const page = await rig.open('#/agents/team', { viewport })
    const picture = page.getByRole('group', { name: 'What team is made of' })
    for (const name of ['team', 'weather', 'hotels']) await picture.getByText(name, { exact: true }).waitFor()
    await picture.getByRole('button', { name: /hotels/ }).click()
    await page.getByRole('heading', { name: 'hotels' }).waitFor()
    await page.getByText('Finds hotel rooms.').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
    expect(await page.title()).toBe('team · Agents · Millrace')
  })

  test('draws a graph with its edges, and leads to the chat', async () => {
    const page = await rig.open('#/agents/flow')
    const picture = page.getByRole('group', { name: 'What flow is made of' })
    await picture.getByText('act', { exact: true }).waitFor()
    expect(await picture.locator('.picture-line-edge').count()).toBe(3)
    expect(await picture.locator('.picture-line-back').count()).toBe(1)
    await picture.getByText('call', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Talk to it' }).click()
    await page.waitForURL('**/console/#/chat/flow')
  })

  test('lights what runs, down to the subagent, and no longer than it runs', async () => {
    const page = await rig.open('#/agents/team')
    const { done } = await postRun(rig.url, 'team', { text: 'How is the weather in Oslo?' })
    await page.locator('.picture-box[data-lit=true]', { hasText: 'weather' }).waitFor()
    await page.locator('.picture-box[data-lit=true]', { hasText: 'team' }).waitFor()
    expect(await page.locator('.picture-box[data-lit=true]', { hasText: 'hotels' }).count()).toBe(0)
    gate.open()
    await done
    await expect.poll(() => page.locator('.picture-box[data-lit=true]').count()).toBe(0)
  })

  test('lights the node of a graph that is at work', async () => {
    const page = await rig.open('#/agents/flow')
    const { done } = await postRun(rig.url, 'flow')
    await page.locator('.picture-box[data-lit=true]', { hasText: 'act' }).waitFor()
    expect(await page.locator('.picture-box[data-lit=true]', { hasText: 'think' }).count()).toBe(0)
    gate.open()
    await done
  })

  test('shows the schema of a tool, calls it from a form and shows what it returns', async () => {
    const page = await rig.open('#/agents/helper')
    await page.getByText('get_weather').click()
    await page.getByText('The name of the city.').waitFor()
    await page.getByRole('button', { name: 'Schema' }).click()
    await page.getByLabel('Schema').getByText('"city"').first().waitFor()
    await page.getByLabel('city').fill('Oslo')
    await page.getByLabel('days').fill('3')
    await page.getByRole('button', { name: 'Call the tool' }).click()
    await expect
      .poll(async () => JSON.parse((await page.getByLabel('Result').textContent()) ?? '') as unknown)
      .toEqual({ city: 'Oslo', temperature: 7, sky: 'rain' })
  })

  test('asks for what the schema requires, and tells why a tool has failed', async () => {
    const page = await rig.open('#/agents/helper')
    await page.getByText('get_weather').click()
    await page.getByRole('button', { name: 'Call the tool' }).click()
    // The browser says so, and leads to the field.
    await page.locator('input:focus:invalid').waitFor()
    await page.getByLabel('city').fill('Nowhere')
    await page.getByRole('button', { name: 'Call the tool' }).click()
    await page.getByText('There is no such city.').waitFor()
  })
})

describe('where tools cannot be called', () => {
  const rig = useConsole(() => ({ agents: [helperAgent()] }))

  test('a tool is shown with its arguments and without a form', async () => {
    const page = await rig.open('#/agents/helper')
    await page.getByText('get_weather').click()
    await page.getByText('It can only be called by its agent.').waitFor()
    await page.getByText('The name of the city.').waitFor()
    expect(await page.getByRole('button', { name: 'Call the tool' }).count()).toBe(0)
  })
})

function agent(name: string, fields: Partial<AgentNode> = {}): AgentNode {
  return { name, description: '', kind: 'chat', examples: [], tools: [], agents: [], ...fields }
}

function overlaps(one: Rect, other: Rect): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  )
}

function expectTidy({ boxes, width, height }: Picture): void {
  for (const [index, box] of boxes.entries()) {
    expect(box.x).toBeGreaterThanOrEqual(0)
    expect(box.y).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width).toBeLessThanOrEqual(width)
    expect(box.y + box.height).toBeLessThanOrEqual(height)
    for (const other of boxes.slice(index + 1))
      expect(overlaps(box, other), `${box.path} and ${other.path}`).toBe(false)
  }
}

describe('the layout', () => {
  const graph = agent('graph', {
    kind: 'graph',
    agents: ['plan', 'search', 'read', 'write', 'check'].map((name) => agent(name, { kind: 'node' })),
    edges: [
      { from: '__start__', to: 'plan' },
      { from: 'plan', to: 'search' },
      { from: 'plan', to: 'read' },
      { from: 'search', to: 'write' },
      { from: 'read', to: 'write' },
      { from: 'write', to: 'check' },
      { from: 'check', to: 'plan', label: 'again' },
      { from: 'check', to: 'check' },
      { from: 'check', to: '__end__' },
      { from: 'check', to: 'nobody' },
    ],
  })

  test('puts no box on another, in trees, graphs and both', () => {
    const tree = agent('root', {
      agents: [agent('a', { agents: [agent('a1'), agent('a2'), { ref: 'root' }] }), graph, agent('b')],
    })
    for (const one of [agent('alone'), tree, graph, agent('above', { agents: [tree, graph, tree] })])
      expectTidy(layoutAgent(one))
  })

  test('stands what follows to the right, whatever circles there are', () => {
    const { boxes, lines } = layoutAgent(graph)
    const x = (name: string): number => boxes.find(({ path }) => path.includes(`/${name}`))?.x ?? NaN
    expect(x('__start__')).toBeLessThan(x('plan'))
    expect(x('plan')).toBeLessThan(x('search'))
    expect(x('search')).toBe(x('read'))
    expect(x('read')).toBeLessThan(x('write'))
    expect(x('write')).toBeLessThan(x('check'))
    expect(lines.filter(({ kind }) => kind === 'back')).toHaveLength(2)
  })

  test('lights the box of a span, and those of its name where spans nest otherwise', () => {
    const tree = agent('mixed', { agents: [graph, agent('plan')] })
    const { boxes } = layoutAgent(tree)
    const subagents = [
      { id: 's1', name: 'graph', status: 'running' },
      { id: 's2', name: 'gone', status: 'finished' },
    ] as const
    const lit = (name: string, subagentId?: string) =>
      litBoxes(
        boxes,
        activeSpans({
          root: 'mixed',
          subagents,
          steps: [{ name, ...(subagentId === undefined ? {} : { subagentId }) }],
        }),
      )
    expect([...lit('plan', 's1')]).toEqual(['mixed', 'mixed/graph#0', 'mixed/graph#0/plan#0'])
    expect([...lit('plan')]).toEqual(['mixed', 'mixed/graph#0', 'mixed/plan#1'])
    expect([...lit('check')]).toEqual(['mixed', 'mixed/graph#0', 'mixed/graph#0/check#4'])
  })
})

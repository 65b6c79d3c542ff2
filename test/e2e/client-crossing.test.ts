import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Thread, ThreadSnapshot } from '../../src/client/index.js'
import { isEqual } from '../../src/core/json.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { deferred } from '../support/run-agent.js'
import { clientOf, textsOf, until } from './support-client.js'
import { ask, historyOf, serving, stores } from './support-server.js'

/** Two tabs that answer the same thread at the same time. */

const tools = { pick: { description: 'Lets the user pick.' } }

function twoTabs(url: string, agent: string): [Thread, Thread] {
  const open = (): Thread => {
    const thread = clientOf(url).thread(agent, 't', { tools })
    thread.subscribe(() => undefined)
    return thread as never
  }
  return [open(), open()]
}

/** Waits until every tab shows what the server has, as a page that loads now sees it. */
async function expectInStep(tabs: readonly Thread[], url: string): Promise<ThreadSnapshot> {
  const agent = tabs[0]?.agent ?? ''
  const page = await until(
    clientOf(url).thread(agent, 't'),
    ({ status }) => status !== 'loading' && status !== 'running',
  )
  expect(page.messages).toEqual(await historyOf(url, 't'))
  const { body } = await ask(`${url}/state_snapshot/t`)
  expect(page.state).toEqual((body as { readonly snapshot: unknown }).snapshot)
  const parts = ({ messages, state, status, interrupts, pendingToolCalls }: ThreadSnapshot) => ({
    ...{ messages, state, status, interrupts, pendingToolCalls },
  })
  for (const tab of tabs) await until(tab, (snapshot) => isEqual(parts(snapshot), parts(page)))
  return page
}

describe.each(stores)('results of client tools that cross, with the store %s', (_, makeStore) => {
  async function begin() {
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? [{ toolCall: { id: 'c1', name: 'pick' } }, { toolCall: { id: 'c2', name: 'pick' } }]
        : 'Good choice.',
    )
    const { url } = await serving({
      agents: [defineAgent({ name: 'asker', model })],
      store: await makeStore(),
    })
    const [one, two] = twoTabs(url, 'asker')
    expect(await one.send('Go')).toMatchObject({ status: 'waiting-for-tools' })
    await until(two, ({ pendingToolCalls }) => pendingToolCalls.length === 2)
    return { url, one, two }
  }

  it('are both taken: each tab answers one call', async () => {
    const { url, one, two } = await begin()
    const results = await Promise.all([one.answerTool('c1', 'left'), two.answerTool('c2', 'right')])
    expect(results.map(({ error }) => error)).toEqual([undefined, undefined])
    const page = await expectInStep([one, two], url)
    expect(page).toMatchObject({ status: 'idle', pendingToolCalls: [] })
    const texts = textsOf(page)
    expect(texts.slice(2, 4).sort()).toEqual(['tool: left', 'tool: right'])
    expect(texts.slice(4)).toEqual(['assistant: Good choice.'])
  })

  it('for the same calls count once, whichever comes first', async () => {
    const { url, one, two } = await begin()
    await Promise.all([
      one.answerTool('c1', 'left of one'),
      two.answerTool('c1', 'left of two'),
      two.answerTool('c2', 'right of two'),
      one.answerTool('c2', 'right of one'),
    ])
    const page = await expectInStep([one, two], url)
    expect(page).toMatchObject({ status: 'idle', pendingToolCalls: [] })
    const texts = textsOf(page)
    expect(texts.filter((text) => text.startsWith('tool: left'))).toHaveLength(1)
    expect(texts.filter((text) => text.startsWith('tool: right'))).toHaveLength(1)
    expect(texts.filter((text) => text === 'assistant: Good choice.')).toHaveLength(1)
  })

  it('leave both tabs in step when one stops while the other answers', async () => {
    const { url, one, two } = await begin()
    await Promise.all([one.answerTool('c1', 'left'), two.stop()])
    await one.answerTool('c2', 'right')
    await two.answerTool('c2', 'again')
    await expectInStep([one, two], url)
  })
})

describe.each(stores)('answers to interrupts that cross, with the store %s', (_, makeStore) => {
  async function begin(gate: Promise<void> = Promise.resolve()) {
    const used: unknown[] = []
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ sum: z.number() }),
      async execute({ sum }, ctx) {
        const answer = await ctx.interrupt({ message: `Pay ${sum}?` })
        used.push(sum)
        await gate
        return `${sum} ${answer.status}`
      },
    })
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? [1, 2].map((sum) => ({ toolCall: { id: `c${sum}`, name: 'pay', args: { sum } } }))
        : 'Done.',
    )
    const { url } = await serving({
      agents: [defineAgent({ name: 'cashier', model, tools: [pay] })],
      store: await makeStore(),
    })
    const [one, two] = twoTabs(url, 'cashier')
    expect(await one.send('Pay!')).toMatchObject({ status: 'interrupted' })
    const { interrupts } = await until(two, (snapshot) => snapshot.interrupts.length === 2)
    const answers = (status: 'resolved' | 'cancelled') =>
      interrupts.map(({ id }) => ({ interruptId: id, status }))
    return { url, one, two, used, answers }
  }

  it('are kept in their tab until it has all of them, and then sent in one request', async () => {
    const { url, one, two, used, answers } = await begin()
    const [first, second] = answers('resolved')
    if (!first || !second) throw new Error('There are two interrupts.')
    const results = await Promise.all([one.resume([first]), two.resume([second])])
    for (const result of results) expect(result).toMatchObject({ status: 'interrupted' })
    expect(one.getSnapshot()).toMatchObject({ answers: [first], error: undefined })
    expect(two.getSnapshot()).toMatchObject({ answers: [second], error: undefined })
    expect(await expectInStep([one, two], url)).toMatchObject({ status: 'interrupted' })
    expect(used).toEqual([])
    expect(await one.resume([second])).toMatchObject({ status: 'completed' })
    expect(one.getSnapshot().answers).toEqual([])
    // What the other tab has kept is of no use any more.
    expect(await until(two, ({ status }) => status === 'idle')).toMatchObject({ answers: [] })
    expect([...used].sort()).toEqual([1, 2])
    await expectInStep([one, two], url)
  })

  it('replace the one that was given before, until they are sent', async () => {
    const { one, url, two, answers } = await begin()
    const [yes, second] = answers('resolved')
    const [no] = answers('cancelled')
    if (!yes || !second || !no) throw new Error('There are two interrupts.')
    await one.resume([yes])
    await one.resume([no])
    expect(one.getSnapshot().answers).toEqual([no])
    expect(await one.resume([second])).toMatchObject({ status: 'completed' })
    const page = await expectInStep([one, two], url)
    expect(textsOf(page)).toEqual(expect.arrayContaining(['tool: 1 cancelled', 'tool: 2 resolved']))
  })

  it('to an interrupt that is not open are refused, and say which are', async () => {
    const { one, answers } = await begin()
    const result = await one.resume([{ interruptId: 'other' }])
    expect(result).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESUME' } })
    for (const { interruptId } of answers('resolved')) expect(result.error?.message).toContain(interruptId)
  })

  it('count once when both tabs answer all of them, whichever comes first', async () => {
    const { url, one, two, used, answers } = await begin()
    const results = await Promise.all([one.resume(answers('resolved')), two.resume(answers('cancelled'))])
    expect(results.some(({ status }) => status === 'completed')).toBe(true)
    const page = await expectInStep([one, two], url)
    expect(page).toMatchObject({ status: 'idle', interrupts: [] })
    expect([...used].sort()).toEqual([1, 2])
    expect(textsOf(page).filter((text) => text === 'assistant: Done.')).toHaveLength(1)
  })

  it('leave both tabs in step when one stops the run of the other, and answers late', async () => {
    const gate = deferred()
    const { url, one, two, answers } = await begin(gate.promise)
    const done = one.resume(answers('resolved'))
    await until(two, ({ status }) => status === 'running')
    const stopping = two.stop()
    gate.resolve()
    await stopping
    await done
    await two.resume(answers('cancelled'))
    await one.resume(answers('resolved'))
    await expectInStep([one, two], url)
  })
})

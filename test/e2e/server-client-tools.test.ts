import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel, type ScriptedModel } from '../../src/models/index.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

/** What the client can do: the names say it all. */
const tools = ['colour', 'sound'].map((name) => ({
  name,
  description: `Changes the ${name}.`,
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
}))

const call = (name: string, to: string) => ({ toolCall: { name, args: { to } } })

async function serveModel(model: ScriptedModel, options: Pick<ServeAgentsOptions, 'store' | 'history'> = {}) {
  const done: string[] = []
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks something up.',
    input: z.object({ to: z.string() }),
    execute({ to }) {
      done.push(to)
      return `found ${to}`
    },
  })
  const agent = defineAgent({ name: 'painter', model, tools: [lookUp] })
  return { done, served: await serveAgents({ agents: [agent], ...options }) }
}

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type)
const statusOf = (body: unknown) => (body as { threads: { status: string }[] }).threads[0]?.status

describe.each(clientVersions)('tools of the client $version', ({ version, Client }) => {
  it('end the run, and their result goes on with it', async () => {
    const model = scriptedModel([[call('colour', 'red')], 'It is red.'])
    const { served } = await serveModel(model)
    const talk = served.talk({ Client })
    const asked = await talk.say('Make it red.', { tools })
    const outcome = version === '1.0' ? { type: 'success', pendingToolCallIds: ['call-1'] } : undefined
    expect(ofType(asked, 'RUN_FINISHED')[0]?.outcome).toEqual(outcome)
    expect(resultsIn(asked)).toEqual([])
    expect(statusOf((await served.ask('GET /thread/list')).body)).toBe('waiting-for-tools')

    const events = await talk.answer({ 'call-1': 'done' }, { tools })
    expect(types(events)).not.toContain('MESSAGES_SNAPSHOT')
    expect(resultsIn(events)).toEqual([])
    const lines = [
      'user: Make it red.',
      'assistant: colour({"to":"red"})',
      'tool: done',
      'assistant: It is red.',
    ]
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual(lines.slice(0, 3))
    expect(linesOf(talk.client.messages)).toEqual(lines)
    expect((await served.ask('GET /message_snapshot/thread-1')).body).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: talk.client.messages,
      interrupts: [],
      pendingToolCalls: [],
    })
    expect(statusOf((await served.ask('GET /thread/list')).body)).toBe('idle')
  })

  it('may be called in parallel and answered together', async () => {
    const model = scriptedModel([[call('colour', 'red'), call('sound', 'loud')], 'Red and loud.'])
    const { served } = await serveModel(model)
    const talk = served.talk({ Client })
    await talk.say('Red and loud.', { tools })
    // In another order than they were called in.
    await talk.answer({ 'call-2': 'loud now', 'call-1': 'red now' }, { tools })
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual([
      'user: Red and loud.',
      'assistant: colour({"to":"red"}) sound({"to":"loud"})',
      'tool: red now',
      'tool: loud now',
    ])
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Red and loud.')
  })

  it.each(['server', 'client'] as const)('may be answered one by one, history: %s', async (history) => {
    const model = scriptedModel([[call('colour', 'red'), call('sound', 'loud')], 'Red and loud.'])
    const { served } = await serveModel(model, { history })
    const talk = served.talk({ Client })
    await talk.say('Red and loud.', { tools })
    const held = await talk.answer({ 'call-2': 'loud now' }, { tools })
    expect(types(held)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(model.requests).toHaveLength(1)
    expect(statusOf((await served.ask('GET /thread/list')).body)).toBe('waiting-for-tools')

    await talk.answer({ 'call-1': 'red now' }, { tools })
    expect(linesOf(model.requests[1]?.messages ?? []).slice(2)).toEqual(['tool: red now', 'tool: loud now'])
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Red and loud.')
  })

  it('stand beside tools of the server in one turn', async () => {
    const model = scriptedModel([[call('colour', 'red'), call('look_up', 'red')], 'Found and red.'])
    const { done, served } = await serveModel(model)
    const talk = served.talk({ Client })
    const asked = await talk.say('Find red and use it.', { tools })
    expect(resultsIn(asked)).toEqual(['call-2: found red'])
    await talk.answer({ 'call-1': 'red now' }, { tools })
    const asksAgain = linesOf(model.requests[1]?.messages ?? [])
    expect(asksAgain.slice(2).toSorted()).toEqual(['tool: found red', 'tool: red now'])
    expect(done).toEqual(['red'])
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Found and red.')
    expect((await served.ask('GET /message_snapshot/thread-1')).body).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: talk.client.messages,
      interrupts: [],
      pendingToolCalls: [],
    })
  })

  it('are answered once, however often the result comes', async () => {
    const model = scriptedModel([[call('colour', 'red')], 'It is red.', 'You are welcome.'])
    const { served } = await serveModel(model)
    const talk = served.talk({ Client })
    await talk.say('Make it red.', { tools })
    talk.client.addMessage({ id: 't1', role: 'tool', toolCallId: 'call-1', content: 'first' })
    await talk.answer({ 'call-1': 'second' }, { tools })
    const lines = [
      'user: Make it red.',
      'assistant: colour({"to":"red"})',
      'tool: first',
      'assistant: It is red.',
    ]
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual(lines.slice(0, 3))
    expect(linesOf(talk.client.messages)).toEqual(lines)
    expect(types(await talk.answer({ 'call-1': 'third' }, { tools }))).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'RUN_FINISHED',
    ])
    await talk.say('Thanks.', { tools })
    expect(linesOf(model.requests[2]?.messages ?? [])).toEqual([...lines, 'user: Thanks.'])
    expect(linesOf(talk.client.messages)).toEqual([...lines, 'user: Thanks.', 'assistant: You are welcome.'])
  })

  it('do not stop a user who goes on talking', async () => {
    const model = scriptedModel([[call('colour', 'red')], 'As you like.', 'Red at last.'])
    const { served } = await serveModel(model)
    const talk = served.talk({ Client })
    await talk.say('Make it red.', { tools })
    await talk.say('Or leave it.', { tools })
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: As you like.')
    // The one who had the call open answers it after all.
    await talk.answer({ 'call-1': 'red now' }, { tools })
    const { body } = await served.ask('GET /message_snapshot/thread-1')
    expect(linesOf((body as { messages: typeof talk.client.messages }).messages).slice(0, 5)).toEqual([
      'user: Make it red.',
      'assistant: colour({"to":"red"})',
      'tool: red now',
      'user: Or leave it.',
      'assistant: As you like.',
    ])
  })

  it('have no result that answers nothing', async () => {
    const model = scriptedModel(['Hello.'])
    const { served } = await serveModel(model)
    const talk = served.talk({ Client })
    await talk.say('Hi.', { tools })
    const events = await talk.answer({ 'call-9': 'done' }, { tools })
    expect(events.at(-1)).toEqual({
      type: 'RUN_ERROR',
      code: 'NO_TOOL_RESULTS',
      message: "The tool call 'call-9' was never made in this thread.",
    })
    expect(model.requests).toHaveLength(1)
  })

  it('are answered to another process than the one that called them', async () => {
    const model = scriptedModel([[call('colour', 'red'), call('look_up', 'red')], 'It is red.'])
    const { done, served } = await serveModel(model, { store: 'sqlite' })
    const talk = served.talk({ Client })
    await talk.say('Make it red.', { tools })
    const next = await served.restart()
    talk.client.url = next.url
    await talk.answer({ 'call-1': 'red now' }, { tools })
    expect(done).toEqual(['red'])
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: It is red.')
    expect((await next.ask('GET /message_snapshot/thread-1')).body).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: talk.client.messages,
      interrupts: [],
      pendingToolCalls: [],
    })
  })
})

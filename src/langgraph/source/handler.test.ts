import { AIMessageChunk } from '@langchain/core/messages'
import { DynamicTool, Tool } from '@langchain/core/tools'
import { describe, expect, test } from 'vitest'
import type { GraphEvent } from '../graph-event.js'
import { GraphHandler } from './handler.js'

function hear(): { handler: GraphHandler; events: GraphEvent[]; problems: string[] } {
  const events: GraphEvent[] = []
  const problems: string[] = []
  const put = (event: GraphEvent): undefined => void events.push(event)
  return { handler: new GraphHandler({ put, report: (problem) => problems.push(problem) }), events, problems }
}

test('What cannot be read is reported, and does not throw', async () => {
  const { handler, events, problems } = hear()
  await handler.handleLLMEnd(undefined as never, 'r1')
  expect(events).toEqual([])
  expect(problems).toEqual([expect.stringMatching(/^An event of LangGraph could not be read: TypeError/)])
})

test('Copies of a handler are the handler', () => {
  const { handler } = hear()
  expect(handler.copy()).toBe(handler)
})

test('A token without a message is a piece of text', async () => {
  const { handler, events } = hear()
  await handler.handleLLMNewToken('word', { prompt: 0, completion: 0 }, 'r1')
  expect(events).toEqual([{ type: 'model-chunk', runId: 'r1', message: new AIMessageChunk('word') }])
})

test('The end of what nobody has heard of is not told', async () => {
  const { handler, events } = hear()
  await handler.handleChainEnd({}, 'r1')
  await handler.handleChainError(new Error('no'), 'r2')
  expect(events).toEqual([])
})

describe('tools', () => {
  test('that take a text have it as JSON', async () => {
    const { handler, events } = hear()
    const shout = new DynamicTool({
      name: 'shout',
      description: 'Shouts.',
      func: (text) => Promise.resolve(text.toUpperCase()),
    })
    await shout.invoke('tea', { callbacks: [handler] })
    expect(events).toMatchObject([
      { type: 'tool-start', name: 'shout' },
      { type: 'tool-end', output: 'TEA' },
    ])
    expect(JSON.parse((events[0] as { input: string }).input)).toEqual({ input: 'tea' })
  })

  test('that are a class have a name', async () => {
    class Shout extends Tool {
      name = 'shout'
      description = 'Shouts.'
      protected override _call(text: string): Promise<string> {
        return Promise.resolve(text)
      }
    }
    const { handler, events } = hear()
    await new Shout().invoke('tea', { callbacks: [handler] })
    expect(events[0]).toMatchObject({ type: 'tool-start', name: expect.stringMatching(/shout/i) as string })
  })
})

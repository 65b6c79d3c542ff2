import type { Message, ToolCall } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelPart, ModelRequest } from '../../models/index.js'
import type { RunContext } from '../contract.js'
import { repairToolCalls, type RepairToolCallsOptions } from './repair-tool-calls.js'

/** Repair needs nothing of the context. */
const ctx = {} as RunContext

async function* noAnswer(): AsyncGenerator<ModelPart> {
  // The request is all these tests look at.
}

/** What the model is asked. */
function repairRequest(request: ModelRequest, options?: RepairToolCallsOptions): ModelRequest {
  const asked: ModelRequest[] = []
  const next = (passedOn: ModelRequest) => {
    asked.push(passedOn)
    return noAnswer()
  }
  repairToolCalls(options).model?.(request, next, ctx)
  expect(asked).toHaveLength(1)
  return asked[0] ?? request
}

function repair(messages: readonly Message[], options?: RepairToolCallsOptions): readonly Message[] {
  return repairRequest({ messages, signal: new AbortController().signal }, options).messages
}

/** The conversation in short: what each message is and, for results, whether repair made it. */
function brief(messages: readonly Message[]): string {
  return messages.map(briefMessage).join(' ')
}

function briefMessage(message: Message): string {
  if (message.role === 'tool')
    return `${message.toolCallId}${message.content === 'ok' ? '=ok' : '=cancelled'}`
  if (message.role !== 'assistant' || message.toolCalls === undefined) return message.role
  return `call(${message.toolCalls.map(({ id }) => id).join()})`
}

/** The reverse of `brief`. Ids of messages are their positions. */
function conversation(text: string): Message[] {
  return text.split(' ').map((word, position) => toMessage(word, `m${position}`))
}

function toMessage(word: string, id: string): Message {
  const [, calls] = /^call\((.*)\)$/.exec(word) ?? []
  if (calls !== undefined) return { id, role: 'assistant', toolCalls: calls.split(',').map(toCall) }
  if (word.endsWith('=ok')) return { id, role: 'tool', toolCallId: word.slice(0, -3), content: 'ok' }
  if (word === 'reasoning') return { id, role: 'reasoning', content: 'hm' }
  return { id, role: word === 'assistant' ? 'assistant' : 'user', content: 'text' }
}

function toCall(id: string): ToolCall {
  return { id, type: 'function', function: { name: 'book', arguments: '{}' } }
}

describe('a conversation that providers accept', () => {
  test.each([
    'user assistant user',
    'user call(a) a=ok assistant',
    'user call(a,b) a=ok b=ok assistant user',
    'user call(a) reasoning call(b) a=ok b=ok assistant',
    'user call(a) a=ok call(a) a=ok',
    'user reasoning call(a) a=ok user',
  ])('passes on as the same request: %s', (text) => {
    const request = { messages: conversation(text), signal: new AbortController().signal }
    expect(repairRequest(request)).toBe(request)
  })
})

describe('a conversation that providers refuse', () => {
  test.each([
    ['a call without a result', 'user call(a) user', 'user call(a) a=cancelled user'],
    ['a call at the end', 'user call(a)', 'user call(a) a=cancelled'],
    ['one of two parallel calls', 'call(a,b) b=ok user', 'call(a,b) a=cancelled b=ok user'],
    [
      'several calls, in their order',
      'call(a,b,c) b=ok user',
      'call(a,b,c) a=cancelled b=ok c=cancelled user',
    ],
    [
      'calls in two messages',
      'call(a) user call(b) user',
      'call(a) a=cancelled user call(b) b=cancelled user',
    ],
    ['results in the order they came', 'call(a,b) b=ok a=ok user', 'call(a,b) a=ok b=ok user'],
    ['a result without a call', 'user z=ok assistant', 'user assistant'],
    ['a second result', 'call(a) a=ok a=ok user', 'call(a) a=ok user'],
    ['a result before its call', 'a=ok user call(a) user', 'user call(a) a=cancelled user'],
    ['a result that came late', 'call(a) user a=ok assistant', 'call(a) a=ok user assistant'],
    ['a late result of two', 'call(a,b) a=ok user b=ok', 'call(a,b) a=ok b=ok user'],
    ['an id used again', 'call(a) a=ok user call(a) user', 'call(a) a=ok user call(a) a=cancelled user'],
    [
      'an id used again, answered the second time',
      'call(a) user call(a) a=ok',
      'call(a) a=cancelled user call(a) a=ok',
    ],
  ])('is repaired: %s', (_, before, after) => {
    expect(brief(repair(conversation(before)))).toBe(after)
  })

  test('gets a whole message for a missing result', () => {
    expect(repair(conversation('call(a)'))[1]).toEqual({
      id: 'm0:a:cancelled',
      role: 'tool',
      toolCallId: 'a',
      content: 'The call of book was cancelled: it was not carried out and has no result.',
    })
  })

  test('tells the model what it is told to', () => {
    const messages = conversation('call(a)')
    expect(repair(messages, { text: 'Skipped.' })[1]).toMatchObject({ content: 'Skipped.' })
    const text = ({ id, function: { name } }: ToolCall) => `${name} ${id} was skipped.`
    expect(repair(messages, { text })[1]).toMatchObject({ content: 'book a was skipped.' })
  })

  test('keeps the rest of the request', () => {
    const request = { messages: conversation('call(a)'), instructions: 'Help.', signal: AbortSignal.abort() }
    expect(repairRequest(request)).toEqual({ ...request, messages: repair(request.messages) })
  })
})

describe('any conversation', () => {
  const word = fc.oneof(
    fc.constantFrom('user', 'assistant', 'reasoning'),
    fc.constantFrom('a', 'b', 'c').map((id) => `${id}=ok`),
    fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((ids) => `call(${ids.join()})`),
  )
  const conversations = fc
    .array(word, { minLength: 1, maxLength: 12 })
    .map((words) => conversation(words.join(' ')))

  test('has one result for each call afterwards, before the user speaks again', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        let open: string[] = []
        for (const message of repair(messages)) {
          if (message.role === 'tool') {
            expect(open).toContain(message.toolCallId)
            open = open.filter((id) => id !== message.toolCallId)
          }
          if (message.role === 'user') expect(open).toEqual([])
          if (message.role === 'assistant') open.push(...(message.toolCalls ?? []).map(({ id }) => id))
        }
        expect(open).toEqual([])
      }),
    )
  })

  test('is repaired once', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const once = repair(messages)
        expect(repair(once)).toBe(once)
      }),
    )
  })

  test('keeps every message but results, in order, and is not changed itself', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const before = structuredClone(messages)
        const after = repair(Object.freeze(messages))
        const spoken = (all: readonly Message[]) => all.filter(({ role }) => role !== 'tool')
        expect(spoken(after)).toEqual(spoken(messages))
        expect(messages).toEqual(before)
      }),
    )
  })
})

import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesOf } from '../../../test/support/tree-agents.js'
import { nameAt } from '../run/address.js'
import { originKey, originMark } from './message-origin.js'
import { createFold } from '../../protocol/index.js'
import type { HistoryEntry, HistoryRewriter } from '../contract.js'
import type { HistoryReader } from './agent-history.js'
import { Histories } from './histories.js'

const run = 'run-1'

/** A message that an agent wrote, at an address in a run. */
function said(address: string, content: string, runId = run): Message {
  const metadata = { [originKey]: originMark({ runId, address }) }
  return {
    id: `${address}:${content}`,
    role: 'assistant',
    content,
    subagentRunId: `sub-${address}`,
    metadata,
  }
}

const user = (content: string): Message => ({ id: content, role: 'user', content })
const root = (content: string): Message => ({ id: content, role: 'assistant', content })

function readerAt(address: string, more: Partial<HistoryReader> = {}): HistoryReader {
  return {
    name: nameAt(address),
    address,
    subagentRunId: address.includes('/') ? `sub-${address}` : undefined,
    scope: { address: address.split('/')[0] ?? '', subagentRunId: undefined, messages: undefined },
    originRunId: run,
    isSelf: false,
    ...more,
  }
}

function readHistory(messages: readonly Message[], reader: HistoryReader, rewrite?: HistoryRewriter) {
  return new Histories(() => ({ messages, edition: 0 })).read(reader, rewrite)
}

const seenFrom = (address: string, messages: readonly Message[], more?: Partial<HistoryReader>): string[] =>
  linesOf(readHistory(messages, readerAt(address, more)))

const asCall = (id: string, name: string) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: '{}' },
})

describe('what an agent hears', () => {
  test('is its own words as they are, and those of others as context, under the same ids', () => {
    const messages = [user('Hi.'), said('flow/0/a', 'A.'), said('flow/1/b', 'B.')]
    const view = readHistory(messages, readerAt('flow/1/b'))
    expect(linesOf(view)).toEqual(['user: Hi.', 'user: For context: [a] said: A.', 'assistant: B.'])
    expect(view.map(({ id }) => id)).toEqual(messages.map(({ id }) => id))
    expect(view.some((message) => 'subagentRunId' in message)).toBe(false)
  })

  test('is made of copies: the messages stay as they are', () => {
    const messages = [user('Hi.'), said('flow/0/a', 'A.')]
    const before = structuredClone(messages)
    readHistory(messages, readerAt('flow/1/b'))
    expect(messages).toEqual(before)
  })

  test('has no thoughts of others, and neither their transfers nor what became of those', () => {
    const { metadata = {}, subagentRunId = '' } = said('team/1/a', '')
    const own = { metadata, subagentRunId }
    const messages: Message[] = [
      user('Hi.'),
      { id: 'r', role: 'reasoning', content: 'Hm.', ...own },
      {
        id: 'm',
        role: 'assistant',
        toolCalls: [asCall('t', 'transfer_to_agent'), asCall('l', 'look')],
        ...own,
      },
      { id: 't', role: 'tool', toolCallId: 't', content: 'Transferred.', ...own },
      { id: 'l', role: 'tool', toolCallId: 'l', content: 'seen', ...own },
    ]
    expect(seenFrom('team/2/b', messages)).toEqual([
      'user: Hi.',
      'user: For context: [a] called tool `look` with arguments: {}',
      'user: For context: [a] tool `look` returned: seen',
    ])
    expect(readHistory(messages, readerAt('team/1/a')).map(({ role }) => role)).toEqual([
      ...['user', 'reasoning', 'assistant', 'tool', 'tool'],
    ])
  })

  test('is not what was done behind a tool call, wherever that was', () => {
    const messages = [user('Hi.'), said('flow/0/a/call:t%3A1/sub/0/deep', 'Secret.'), said('flow/0/a', 'A.')]
    for (const at of ['flow', 'flow/1/b', 'flow/0/a'])
      expect(seenFrom(at, messages).join()).not.toContain('Secret')
    expect(seenFrom('flow/1/b', messages)).toHaveLength(2)
  })

  test('is not what was said in a lane beside it, but all lanes when they have joined', () => {
    const messages = [
      user('Hi.'),
      said('par/lane:1/b', 'B1.'),
      said('par/lane:0/a', 'A1.'),
      said('par/lane:1/b', 'B2.'),
    ]
    expect(seenFrom('par/lane:0/a', messages)).toEqual(['user: Hi.', 'assistant: A1.'])
    expect(seenFrom('par/lane:1/b', messages)).toEqual(['user: Hi.', 'assistant: B1.', 'assistant: B2.'])
    expect(seenFrom('par', messages)).toEqual([
      'user: Hi.',
      ...['[a] said: A1.', '[b] said: B1.', '[b] said: B2.'].map((line) => `user: For context: ${line}`),
    ])
  })

  test('in nested lanes is the own lane at every fork', () => {
    const messages = [
      said('p/lane:0/q/lane:0/a', 'A.'),
      said('p/lane:0/q/lane:1/b', 'B.'),
      said('p/lane:1/c', 'C.'),
    ]
    const own = (at: string) => seenFrom(at, messages).map((line) => line.slice(-2))
    expect(own('p/lane:0/q/lane:0/a')).toEqual(['A.'])
    expect(own('p/lane:0/q')).toEqual(['A.', 'B.'])
    expect(own('p/lane:1/c')).toEqual(['C.'])
    expect(own('p')).toEqual(['A.', 'B.', 'C.'])
  })

  test('of ten lanes and more comes by number, not by letter', () => {
    const messages = Array.from({ length: 12 }, (_, lane) => said(`p/lane:${11 - lane}/a${11 - lane}`, 'x'))
    expect(seenFrom('p', messages)).toEqual(
      Array.from({ length: 12 }, (_, lane) => `user: For context: [a${lane}] said: x`),
    )
  })

  test('is one run after the other, though their lanes have the same addresses', () => {
    const messages = [
      user('One.'),
      said('p/lane:1/b', 'B1.', 'run-0'),
      said('p/lane:0/a', 'A1.', 'run-0'),
      user('Two.'),
      said('p/lane:1/b', 'B2.'),
      said('p/lane:0/a', 'A2.'),
    ]
    expect(seenFrom('p', messages).map((line) => line.slice(-3))).toEqual([
      ...['ne.', 'A1.', 'B1.', 'wo.', 'A2.', 'B2.'],
    ])
    // What lanes said in an earlier run, all hear; what they say now, they do not.
    expect(seenFrom('p/lane:0/a', messages).map((line) => line.slice(-3))).toEqual([
      ...['ne.', 'A1.', 'B1.', 'wo.', 'A2.'],
    ])
  })

  test('of an earlier run is its own when it has the same name', () => {
    const messages = [user('One.'), said('team/2/a', 'Old.', 'run-0'), user('Two.')]
    expect(seenFrom('team/4/a', messages)).toEqual(['user: One.', 'assistant: Old.', 'user: Two.'])
  })

  test('of the root is told by its name', () => {
    const messages = [user('Hi.'), root('Moment.')]
    expect(seenFrom('desk/2/billing', messages)).toEqual([
      'user: Hi.',
      'user: For context: [desk] said: Moment.',
    ])
    expect(seenFrom('desk', messages)).toEqual(['user: Hi.', 'assistant: Moment.'])
  })

  test('has no rejected messages', () => {
    const rejected = { ...root('Half'), metadata: { millrace: { rejected: 'broke' } } }
    expect(seenFrom('desk', [user('Hi.'), rejected])).toEqual(['user: Hi.'])
    expect(seenFrom('desk/2/b', [user('Hi.'), rejected])).toEqual(['user: Hi.'])
  })

  test('is what a failure left behind, told as context', () => {
    const note: Message = {
      id: 'n',
      role: 'developer',
      content: 'failed. Error: broke',
      subagentRunId: 'sub-p',
      metadata: { [originKey]: originMark({ runId: run, address: 'p/lane:0/a' }) },
    }
    expect(seenFrom('p', [user('Hi.'), note])).toEqual([
      'user: Hi.',
      'user: For context: [a] failed. Error: broke',
    ])
    expect(seenFrom('p/lane:1/b', [user('Hi.'), note])).toEqual(['user: Hi.'])
  })

  test('is found in the mark of its calls when a message is nothing but calls', () => {
    const { metadata = {} } = said('flow/0/a', '')
    const bare: Message = {
      id: 'm',
      role: 'assistant',
      toolCalls: [{ ...asCall('c', 'look'), metadata }],
      subagentRunId: 'sub-flow/0/a',
    }
    expect(seenFrom('flow/1/b', [bare])).toEqual([
      'user: For context: [a] called tool `look` with arguments: {}',
    ])
  })

  test('includes what the tools of the client gave, where they were called', () => {
    const { metadata = {} } = said('flow/0/a', '')
    const caller: Message = {
      id: 'm',
      role: 'assistant',
      toolCalls: [{ ...asCall('c', 'paint'), metadata }],
      subagentRunId: 'sub-flow/0/a',
    }
    const result: Message = { id: 'r', role: 'tool', toolCallId: 'c', content: 'painted' }
    expect(seenFrom('flow/0/a', [caller, result])).toEqual(['assistant: -> paint', 'tool: painted'])
    expect(seenFrom('flow/1/b', [caller, result])[1]).toBe(
      'user: For context: [a] tool `paint` returned: painted',
    )
  })

  test('is a conversation of one as it is, at the cost of a copy', () => {
    const messages = [user('Hi.'), root('Hello.')]
    const view = readHistory(messages, readerAt('desk'))
    expect(view).toEqual(messages)
    expect(view).not.toBe(messages)
    expect(view[0]).toBe(messages[0])
  })
})

describe('an agent that was given something else to hear', () => {
  const given = [user('Do it.')]
  const address = 'desk/call:w%3A1/worker'
  const scope = { address, subagentRunId: `sub-${address}`, messages: given }

  test('hears that and what is said from there on, not the thread', () => {
    const own: Message = { id: 'o', role: 'assistant', content: 'Own.', subagentRunId: `sub-${address}` }
    const below = said(`${address}/0/helper`, 'Below.')
    const messages = [user('Hi.'), root('Moment.'), said('desk/2/b', 'B.'), own, below]
    expect(seenFrom(address, messages, { scope })).toEqual([
      'user: Do it.',
      'assistant: Own.',
      'user: For context: [helper] said: Below.',
    ])
    expect(linesOf(readHistory(messages, { ...readerAt(`${address}/0/helper`), scope }))).toEqual([
      'user: Do it.',
      'user: For context: [worker] said: Own.',
      'assistant: Below.',
    ])
  })

  test('hears nothing of an earlier run', () => {
    expect(seenFrom(address, [said(`${address}/0/helper`, 'Old.', 'run-0')], { scope })).toEqual([
      'user: Do it.',
    ])
  })
})

test('a rewriter gets every message with its author, and says what is read', () => {
  const messages = [user('Hi.'), said('flow/0/a', 'A.'), said('flow/1/b', 'B.')]
  const seen = readHistory(messages, readerAt('flow/1/b'), (entries) =>
    entries.map(({ message, agent, isOwn }) => user(`${agent ?? 'user'} ${String(isOwn)} ${message.role}`)),
  )
  expect(linesOf(seen)).toEqual([
    'user: user false user',
    'user: a false assistant',
    'user: b true assistant',
  ])
})

test('a history that is read step by step is the one that is read at once', () => {
  const addresses = ['flow/0/a', 'flow/1/b', 'flow/2/par/lane:0/a', 'flow/2/par/lane:1/b', 'flow/3/call:x/c']
  const readers = ['flow', 'flow/4/a', 'flow/5/b', 'flow/2/par/lane:0/a', 'flow/2/par/lane:1/b']
  const written = fc.oneof(
    fc.constantFrom(...addresses).map((address) => (n: number) => said(address, `m${n}`)),
    fc.constant((n: number) => user(`m${n}`)),
    fc.constant((n: number) => root(`m${n}`)),
    fc.constant((n: number) => ({ ...said('flow/0/a', `m${n}`), toolCalls: [asCall(`c${n}`, 'look')] })),
    fc.constant((n: number): Message => ({
      id: `t${n}`,
      role: 'tool',
      toolCallId: `c${n - 1}`,
      content: 'ok',
    })),
  )
  fc.assert(
    fc.property(fc.array(written, { maxLength: 12 }), fc.constantFrom(...readers), (makers, address) => {
      const messages: Message[] = []
      const growing = new Histories(() => ({ messages, edition: 0 }))
      for (const [n, make] of makers.entries()) {
        messages.push(make(n))
        for (const rewrite of [
          undefined,
          (entries: readonly HistoryEntry[]) => entries.map((one) => one.message),
        ])
          expect(growing.read(readerAt(address), rewrite)).toEqual(
            readHistory(messages, readerAt(address), rewrite),
          )
      }
    }),
  )
})

test('a history is read anew when a message in it has changed', () => {
  const fold = createFold({ messages: [user('u1'), root('a1')] })
  const histories = new Histories(() => fold.settle())
  const lines = () => linesOf(histories.read(readerAt('flow/0/a')))
  expect(lines()).toEqual(['user: u1', 'user: For context: [flow] said: a1'])
  fold.apply({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'a1', delta: '!' })
  expect(lines()).toEqual(['user: u1', 'user: For context: [flow] said: a1!'])
  fold.apply({ type: 'MESSAGES_SNAPSHOT', messages: [user('u2')] })
  expect(lines()).toEqual(['user: u2'])
})

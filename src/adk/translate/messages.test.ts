import { describe, expect, test } from 'vitest'
import {
  adkEvent,
  chunkOf,
  responseOf,
  translateEvents,
  wholeOf,
} from '../../../test/support/adk/translate-events.js'
import { brief } from '../../../test/support/brief.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { StreamedText } from './streamed-text.js'

const call = (id: string, name = 'tool') => ({ functionCall: { id, name, args: {} } })

/** The events of messages and calls in a strict stream. */
const itemEvents = (stream: readonly AgUiEvent[]) =>
  stream.filter(({ type }) => !/^RUN_|^REASONING_(START|END)$/.test(type))

describe('text', () => {
  test('comes from the pieces; the whole only ends it', () => {
    const { batches, marks } = translateEvents([chunkOf('Hel'), chunkOf('lo'), wholeOf('Hello')])
    expect(batches.map((batch) => batch.map(brief))).toEqual([
      ['TEXT_MESSAGE_START message-1', 'TEXT_MESSAGE_CHUNK message-1 "Hel"'],
      ['TEXT_MESSAGE_CHUNK message-1 "lo"'],
      ['TEXT_MESSAGE_END message-1'],
      [],
    ])
    expect(marks).toEqual([{ runId: 'run', messageIds: ['message-1'] }])
  })

  test('comes from the whole when there were no pieces, under the id it was marked with', () => {
    const { messages, marks } = translateEvents([wholeOf('Hello')])
    expect(messages).toEqual([{ id: 'message-1', role: 'assistant', content: 'Hello' }])
    expect(marks).toEqual([{ runId: 'run', messageIds: ['message-1'] }])
  })

  test('of several answers is several messages', () => {
    const { messages } = translateEvents([
      chunkOf('Let me '),
      chunkOf('check.'),
      wholeOf('Let me check.'),
      wholeOf([call('c1')]),
      responseOf('c1', { temp: 21 }),
      chunkOf('It is 21.'),
      wholeOf('It is 21.'),
    ])
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['assistant', 'Let me check.'],
      ['tool', '{"temp":21}'],
      ['assistant', 'It is 21.'],
    ])
    expect(messages[0]).toMatchObject({ toolCalls: [{ id: 'c1' }] })
  })

  test('and a call in one event: the text comes first', () => {
    const { loose } = translateEvents([wholeOf([call('c1'), { text: 'I look.' }])])
    expect(loose.map(({ type }) => type)).toEqual([
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CHUNK',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
    ])
  })

  test('that the whole has more of is completed', () => {
    const { messages, problems } = translateEvents([chunkOf('Hel'), wholeOf('Hello!')])
    expect(messages).toMatchObject([{ id: 'message-1', content: 'Hello!' }])
    expect(problems).toEqual([])
  })

  test('that differs from the whole is rewritten: the session has the whole', () => {
    const { messages, problems } = translateEvents([chunkOf('Secret'), wholeOf('[removed]')])
    expect(messages).toMatchObject([{ id: 'message-1', content: '[removed]' }])
    expect(problems).toEqual([])
  })

  test('is never an empty delta, but may be white space', () => {
    const { loose } = translateEvents([chunkOf(''), chunkOf(' '), chunkOf('\n'), wholeOf(' \n')])
    expect(loose.flatMap((event) => ('delta' in event ? [event.delta] : []))).toEqual([' ', '\n'])
    expect(translateEvents([chunkOf(''), wholeOf('')]).loose).toEqual([])
  })

  test('in pieces that repeat all before them is sent once', () => {
    const { messages } = translateEvents([
      chunkOf('The'),
      chunkOf('The quick'),
      chunkOf('The quick fox'),
      wholeOf('The quick fox'),
    ])
    expect(messages).toMatchObject([{ content: 'The quick fox' }])
  })

  test('that was streamed and has no whole ends with the run', () => {
    const { batches } = translateEvents([chunkOf('ha'), chunkOf('haha')])
    expect(batches.at(-1)?.map(brief)).toEqual([
      'TEXT_MESSAGE_CHUNK message-1 "haha"',
      'TEXT_MESSAGE_END message-1',
    ])
  })

  test('of siblings interleaves and stays apart', () => {
    const a = { author: 'A', branch: 'par.A' }
    const b = { author: 'B', branch: 'par.B' }
    const { messages } = translateEvents([
      chunkOf('a1', a),
      chunkOf('b1', b),
      chunkOf('a2', a),
      wholeOf('a1a2', a),
      chunkOf('b2', b),
      wholeOf('b1b2', b),
    ])
    expect(messages).toMatchObject([
      { name: 'A', content: 'a1a2' },
      { name: 'B', content: 'b1b2' },
    ])
  })

  test('of a user event is nothing: it is in the thread', () => {
    const { loose, marks } = translateEvents([wholeOf('Hi', { author: 'user' })])
    expect([loose, marks]).toEqual([[], [{ runId: 'run' }]])
  })

  test('that a plugin answers in the place of the agent is the run’s own', () => {
    const { loose } = translateEvents([wholeOf('No.', { author: 'model' })])
    expect(loose.slice(0, 2)).toEqual([
      { type: 'TEXT_MESSAGE_START', messageId: 'message-1', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'message-1', delta: 'No.' },
    ])
  })

  test('of an event without actions is text', () => {
    const { actions: _actions, ...rest } = wholeOf('Hi')
    expect(translateEvents([rest as never]).messages).toMatchObject([{ content: 'Hi' }])
  })
})

describe('reasoning', () => {
  const thought = (text: string, more = {}) => ({ text, thought: true, ...more })
  const think = (text: string, more = {}) =>
    adkEvent({ partial: true, content: { role: 'model', parts: [thought(text, more)] } })

  test('is streamed, ends before the text begins, and is not repeated by the whole', () => {
    const { stream, marks, messages } = translateEvents([
      think('I should'),
      think(' greet.'),
      chunkOf('Hi'),
      wholeOf([thought('I should greet.'), { text: 'Hi' }]),
    ])
    expect(itemEvents(stream).map(brief)).toEqual([
      'REASONING_MESSAGE_START reasoning-1',
      'REASONING_MESSAGE_CONTENT reasoning-1 "I should"',
      'REASONING_MESSAGE_CONTENT reasoning-1 " greet."',
      'REASONING_MESSAGE_END reasoning-1',
      'TEXT_MESSAGE_START message-1',
      'TEXT_MESSAGE_CONTENT message-1 "Hi"',
      'TEXT_MESSAGE_END message-1',
    ])
    expect(marks).toEqual([{ runId: 'run', messageIds: ['message-1'], reasoningIds: ['reasoning-1'] }])
    expect(messages.map(({ role }) => role)).toEqual(['reasoning', 'assistant'])
  })

  test('of an answer that was not streamed comes before its text, signed', () => {
    const { stream } = translateEvents([
      wholeOf([thought('Hm.', { thoughtSignature: 's1' }), { text: 'Hi', thoughtSignature: 's2' }]),
    ])
    expect(itemEvents(stream).map(brief)).toEqual([
      'REASONING_MESSAGE_START reasoning-1',
      'REASONING_MESSAGE_CONTENT reasoning-1 "Hm."',
      'REASONING_MESSAGE_END reasoning-1',
      'REASONING_ENCRYPTED_VALUE reasoning-1',
      'TEXT_MESSAGE_START message-1',
      'TEXT_MESSAGE_CONTENT message-1 "Hi"',
      'TEXT_MESSAGE_END message-1',
      'REASONING_ENCRYPTED_VALUE message-1',
    ])
    expect(itemEvents(stream)[3]).toMatchObject({ subtype: 'message', encryptedValue: 's1' })
  })

  test('that alternates with text is several messages; the whole has them joined', () => {
    const { messages, marks, problems } = translateEvents([
      think('r1'),
      chunkOf('t1'),
      think('r2'),
      chunkOf('t2'),
      wholeOf([thought('r1r2'), { text: 't1t2' }]),
    ])
    expect(messages.map(({ content }) => content)).toEqual(['r1', 't1', 'r2', 't2'])
    expect(marks[0]).toMatchObject({
      messageIds: ['message-1', 'message-2'],
      reasoningIds: ['reasoning-1', 'reasoning-2'],
    })
    expect(problems).toEqual([])
  })

  test('that the whole has more of goes on in its message', () => {
    const { messages, loose } = translateEvents([
      think('r1'),
      chunkOf('t1'),
      wholeOf([thought('r1 and more'), { text: 't1' }]),
    ])
    expect(messages.map(({ id, content }) => [id, content])).toEqual([
      ['reasoning-1', 'r1 and more'],
      ['message-1', 't1'],
    ])
    expect(loose.slice(-4).map(brief)).toEqual([
      'TEXT_MESSAGE_END message-1',
      'REASONING_MESSAGE_START reasoning-1',
      'REASONING_MESSAGE_CHUNK reasoning-1 " and more"',
      'REASONING_MESSAGE_END reasoning-1',
    ])
  })

  test('is signed once, also when the whole has the signature again', () => {
    const { loose } = translateEvents([
      think('r1'),
      think('', { thoughtSignature: 's1' }),
      chunkOf('t1'),
      wholeOf([thought('r1', { thoughtSignature: 's1' }), { text: 't1' }]),
    ])
    const values = loose.filter(({ type }) => type === 'REASONING_ENCRYPTED_VALUE')
    expect(values).toMatchObject([{ entityId: 'reasoning-1', encryptedValue: 's1' }])
  })

  test('between a text and a call: the call is not of the text any more', () => {
    const { messages } = translateEvents([chunkOf('t1'), think('r1'), wholeOf([call('c1')])])
    expect(messages.map(({ role, toolCalls }) => [role, toolCalls !== undefined])).toEqual([
      ['assistant', false],
      ['reasoning', false],
      ['assistant', true],
    ])
  })

  test('that is only signed is an empty message', () => {
    const { messages } = translateEvents([
      wholeOf([{ text: '', thought: true, thoughtSignature: 's1' }, { text: 'Hi' }]),
    ])
    expect(messages).toMatchObject([{ role: 'reasoning', encryptedValue: 's1' }, { content: 'Hi' }])
  })

  test('of an agent with an output schema is sent, its text is data', () => {
    const { messages, translator, marks } = translateEvents(
      [think('Hm.'), chunkOf('{"a":'), chunkOf('1}'), wholeOf([thought('Hm.'), { text: '{"a":1}' }])],
      { hidesText: () => true },
    )
    expect(messages).toMatchObject([{ role: 'reasoning', content: 'Hm.' }])
    expect(translator.output).toEqual({ a: 1 })
    expect(marks).toEqual([{ runId: 'run', reasoningIds: ['reasoning-1'] }])
  })
})

test('what an agent with an output schema writes is its output even when it is no JSON', () => {
  const { translator, loose } = translateEvents([wholeOf('sorry')], { hidesText: () => true })
  expect([translator.output, loose]).toEqual(['sorry', []])
})

describe('streamed text', () => {
  function taken(...chunks: string[]) {
    const streamed = new StreamedText()
    return { streamed, deltas: chunks.map((chunk) => streamed.takeChunk(chunk)) }
  }

  test('chunks are new text', () => {
    expect(taken('Hel', 'lo', ' ', 'you').deltas).toEqual(['Hel', 'lo', ' ', 'you'])
  })

  test.each([
    ['a token twice', ['ha', 'ha', 'ha', '!']],
    ['a token that the text already ended with', ['It is OK', ' OK', 'OK']],
    ['the first token again, later', ['no', ' and ', 'no', ' and no']],
  ])('%s is not taken for repetition', (_name, chunks) => {
    expect(taken(...chunks).deltas.join('')).toBe(chunks.join(''))
  })

  test('a chunk that begins with all before it is held until the next one tells', () => {
    expect(taken('ha', 'haha', '!').deltas).toEqual(['ha', '', 'haha!'])
    expect(taken('  ', '    ', 'x').deltas).toEqual(['  ', '', '    x'])
    expect(taken('ha', 'haha', 'haha', '!').deltas).toEqual(['ha', '', '', 'hahahaha!'])
  })

  test('chunks that repeat all before them give only what is new', () => {
    const chunks = ['The', 'The quick', 'The quick', 'The quick brown', 'The quick brown fox']
    expect(taken(...chunks).deltas).toEqual(['The', '', '', ' quick brown', ' fox'])
  })

  test('once chunks repeat, one without news gives nothing, and one that does not repeat is new text', () => {
    expect(taken('a b', 'a b c', 'a b c d', 'a b c d', 'e', 'e f').deltas).toEqual([
      'a b',
      '',
      ' c d',
      '',
      'e',
      'e f',
    ])
  })

  test('what is known about the chunks stays for the next answer', () => {
    const { streamed } = taken('a', 'ab', 'abc')
    streamed.reset()
    expect([streamed.takeChunk('x'), streamed.takeChunk('xy')]).toEqual(['x', 'y'])
  })

  test('the whole decides about a chunk that is held', () => {
    expect(taken('ha', 'haha').streamed.takeWhole('hahaha')).toBe('haha')
    expect(taken('The', 'The quick').streamed.takeWhole('The quick')).toBe(' quick')
  })

  test('without a whole, a chunk that is held is new text', () => {
    const { streamed } = taken('ha', 'haha')
    expect(streamed.takeUndecided()).toBe('haha')
    expect(streamed.takeUndecided()).toBe('')
    expect(streamed.text).toBe('hahaha')
  })

  test('a whole adds what was not streamed, and is no whole of something else', () => {
    expect(taken('Hel', 'lo').streamed.takeWhole('Hello')).toBe('')
    expect(taken('Hel').streamed.takeWhole('Hello')).toBe('lo')
    expect(taken().streamed.takeWhole('Hello')).toBe('Hello')
    expect(taken('Hello').streamed.takeWhole('Goodbye')).toBeUndefined()
    expect(taken('Hello').streamed.takeWhole('Hel')).toBeUndefined()
  })
})

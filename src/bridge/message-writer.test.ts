import { expect, it } from 'vitest'
import { brief } from '../../test/support/brief.js'
import { sequentialIds } from '../core/ids.js'
import { createRunStream, type AgentEvent, type AgUiEvent } from '../protocol/index.js'
import { assertValidStream } from '../testing/index.js'
import { EventSink } from './event-sink.js'
import { MessageWriter, type MessageWriterOptions } from './message-writer.js'
import { spanEnded } from './spans.js'

function createWriter(options: Partial<MessageWriterOptions> = {}) {
  const sink = new EventSink()
  const writer = new MessageWriter({ sink, newId: sequentialIds(), ...options })
  return { writer, sink }
}

/** Brings loose events through the run stream and the linter. */
function strict(loose: readonly AgentEvent[]) {
  const out: AgUiEvent[] = []
  const problems: string[] = []
  const stream = createRunStream({
    threadId: 't',
    runId: 'r',
    emit: (event) => out.push(event),
    onProblem: (problem) => problems.push(problem),
  })
  for (const event of loose) stream.write(event)
  stream.finish({ type: 'success' })
  assertValidStream(out)
  expect(problems).toEqual([])
  return { out: out.slice(1, -1).map(brief), messages: stream.fold.messages }
}

it('writes a start, one chunk for each delta, and an end', () => {
  const { writer, sink } = createWriter()
  writer.begin('text')
  for (const delta of ['Hel', 'lo']) writer.write(delta)
  writer.end()
  writer.end()
  const events = sink.take()
  expect(events).toEqual([
    { type: 'TEXT_MESSAGE_START', messageId: 'message-1', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CHUNK', messageId: 'message-1', delta: 'Hel' },
    { type: 'TEXT_MESSAGE_CHUNK', messageId: 'message-1', delta: 'lo' },
    { type: 'TEXT_MESSAGE_END', messageId: 'message-1' },
  ])
  expect(strict(events).messages).toEqual([{ id: 'message-1', role: 'assistant', content: 'Hello' }])
})

it('ends one message before the next, and gives each an id', () => {
  const { writer, sink } = createWriter()
  for (const [kind, delta] of [
    ['reasoning', 'hm'],
    ['text', 'Hi'],
    ['reasoning', 'so'],
  ] as const) {
    writer.begin(kind)
    writer.write(delta)
  }
  expect([writer.kind, writer.messageId]).toEqual(['reasoning', 'reasoning-2'])
  writer.end()
  expect([writer.kind, writer.messageId]).toEqual([undefined, undefined])
  const { out, messages } = strict(sink.take())
  expect(messages.map(({ id }) => id)).toEqual(['reasoning-1', 'message-1', 'reasoning-2'])
  expect(out.filter((event) => event.includes('_END'))).toHaveLength(5)
})

it('takes the ids of the runtime, and goes on with a message that has ended', () => {
  const { writer, sink } = createWriter()
  expect(writer.begin('text', 'm1')).toBe('m1')
  writer.write('One')
  writer.begin('reasoning', 'm1:reasoning')
  writer.write('hm')
  writer.begin('text', 'm1')
  writer.write(' two')
  writer.end()
  expect(strict(sink.take()).messages).toMatchObject([
    { id: 'm1', content: 'One two' },
    { id: 'm1:reasoning', content: 'hm' },
  ])
})

it('says who wrote a message and to which span it belongs', () => {
  const { writer, sink } = createWriter({ name: 'critic', subagentRunId: 's1' })
  writer.begin('text')
  writer.write('a')
  writer.write('b')
  writer.end()
  const started: AgentEvent = { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'critic' }
  expect(strict([started, ...sink.take(), spanEnded('s1', { type: 'done' })]).messages).toEqual([
    { id: 'message-1', role: 'assistant', name: 'critic', content: 'ab', subagentRunId: 's1' },
  ])
})

it('sends an encrypted value for the message being written or any other, also without a word before', () => {
  const { writer, sink } = createWriter()
  writer.begin('reasoning')
  writer.write('hm')
  writer.sendEncryptedValue('sealed')
  writer.begin('reasoning')
  writer.sendEncryptedValue('more')
  writer.end()
  writer.sendEncryptedValue('alone')
  writer.sendEncryptedValue('again', 'reasoning-1')
  const { out, messages } = strict(sink.take())
  expect(out.slice(3, 5)).toEqual([
    'REASONING_MESSAGE_END reasoning-1',
    'REASONING_ENCRYPTED_VALUE reasoning-1',
  ])
  expect(messages).toEqual([
    { id: 'reasoning-1', role: 'reasoning', content: 'hm', encryptedValue: 'again' },
    { id: 'reasoning-2', role: 'reasoning', content: '', encryptedValue: 'more' },
    { id: 'reasoning-3', role: 'reasoning', content: '', encryptedValue: 'alone' },
  ])
})

it('knows the text that a tool call belongs to, unless reasoning came in between', () => {
  const { writer } = createWriter()
  writer.begin('text')
  expect(writer.parentMessageId).toBe('message-1')
  writer.end()
  expect(writer.parentMessageId).toBe('message-1')
  writer.begin('reasoning')
  expect(writer.parentMessageId).toBeUndefined()
})

it('ends a span as its subagent did', () => {
  const types = [
    spanEnded('s', { type: 'done' }),
    spanEnded('s', { type: 'suspended' }),
    spanEnded('s', { type: 'failed', error: new Error('secret') }),
  ]
  expect(types).toEqual([
    { type: 'SUBAGENT_FINISHED', subagentRunId: 's' },
    { type: 'SUBAGENT_FINISHED', subagentRunId: 's', outcome: { type: 'suspended' } },
    expect.objectContaining({ type: 'SUBAGENT_ERROR', subagentRunId: 's' }),
  ])
  expect(JSON.stringify(types)).not.toContain('secret')
})

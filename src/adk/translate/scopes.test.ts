import type { Event } from '@google/adk'
import { describe, expect, test } from 'vitest'
import {
  adkEvent,
  pieceOf,
  responseOf,
  translateEvents,
  wholeOf,
} from '../../../test/support/adk/translate-events.js'

/** When spans and steps begin and end, and what is said meanwhile: `+A`, `A:text`, `-A`. */
function course(events: Event[], options: Parameters<typeof translateEvents>[1] = {}): string[] {
  const names = new Map<string, string>()
  const nameOf = (id: string | undefined) => (id === undefined ? '' : (names.get(id) ?? '?'))
  return translateEvents(events, options).stream.flatMap((event) => {
    if (event.type === 'SUBAGENT_STARTED') names.set(event.subagentRunId, event.name)
    switch (event.type) {
      case 'SUBAGENT_STARTED':
        return [`+${event.name}`]
      case 'SUBAGENT_FINISHED':
        return [`-${nameOf(event.subagentRunId)}`]
      case 'STEP_STARTED':
        return [`+step ${event.stepName}`]
      case 'STEP_FINISHED':
        return [`-step ${event.stepName}`]
      case 'TEXT_MESSAGE_CONTENT':
        return [`${nameOf(event.subagentRunId)}:${event.delta}`]
      default:
        return []
    }
  })
}

const by = (author: string, branch?: string): Partial<Event> => ({
  author,
  ...(branch === undefined ? {} : { branch }),
})

describe('a subagent span', () => {
  test('is not there for the run’s own agent', () => {
    expect(course([wholeOf('Hi')])).toEqual([':Hi'])
  })

  test('has an id that depends on the run and the place, a name and a parent', () => {
    const { loose } = translateEvents([wholeOf('Hi', by('A'))], { parentSubagentRunId: 'outer' })
    const again = translateEvents([wholeOf('Hi', by('A'))], { parentSubagentRunId: 'outer' }).loose
    const other = translateEvents([wholeOf('Hi', by('A'))], { runId: 'run-2' }).loose
    expect(loose[0]).toEqual({
      type: 'SUBAGENT_STARTED',
      subagentRunId: expect.stringMatching(/^sub-[0-9a-f]{16}$/) as string,
      name: 'A',
      parentSubagentRunId: 'outer',
    })
    expect(again).toEqual(loose)
    expect(other[0]).not.toMatchObject({
      subagentRunId: (loose[0] as { subagentRunId: string }).subagentRunId,
    })
  })

  test('tags all that its agent does', () => {
    const actions = { stateDelta: { k: 1 }, artifactDelta: { 'a.txt': 0 } } as never
    const { loose } = translateEvents([
      wholeOf(
        [{ text: 'r', thought: true }, { text: 't' }, { functionCall: { id: 'c', name: 'f' } }],
        by('A'),
      ),
      responseOf('c', {}, { ...by('A'), actions }),
    ])
    const tags = new Set(loose.map((event) => ('subagentRunId' in event ? event.subagentRunId : 'none')))
    expect(tags.size).toBe(1)
    expect(tags).not.toContain('none')
  })

  test('ends when another agent has the word on the same branch, and the same agent may come again', () => {
    expect(
      course([wholeOf('1', by('A')), wholeOf('2', by('B')), wholeOf('3', by('A')), wholeOf('4')]),
    ).toEqual([...['+A', 'A:1', '-A', '+B', 'B:2', '-B', '+A', 'A:3', '-A', ':4']])
  })

  test('of a sibling goes on, until somebody above has the word', () => {
    const [a, b] = [by('A', 'par.A'), by('B', 'par.B')]
    expect(course([wholeOf('1', a), wholeOf('2', b), wholeOf('3', a), wholeOf('4', by('C'))])).toEqual([
      ...['+A', 'A:1', '+B', 'B:2', 'A:3', '-A', '-B', '+C', 'C:4', '-C'],
    ])
  })

  test('on a branch whose name only begins alike goes on', () => {
    expect(course([wholeOf('1', by('A', 'par.A1')), wholeOf('2', by('B', 'par.A'))])).toEqual([
      ...['+A', 'A:1', '+B', 'B:2', '-B', '-A'],
    ])
    expect(course([wholeOf('1', by('A', 'par.A.x')), wholeOf('2', by('B', 'par.A'))])).toEqual([
      ...['+A', 'A:1', '-A', '+B', 'B:2', '-B'],
    ])
  })

  test('does not end in the middle of a sentence: nodes started by hand may share a branch', () => {
    const at = (author: string) => ({ author, nodeInfo: { path: `wf.${author}@1` } })
    const events = [
      pieceOf('a1', at('A')),
      pieceOf('b1', at('B')),
      pieceOf('a2', at('A')),
      pieceOf('b2', at('B')),
      wholeOf('a1a2', at('A')),
      wholeOf('b1b2', at('B')),
    ]
    expect(course(events)).toEqual(['+A', 'A:a1', '+B', 'B:b1', 'A:a2', 'B:b2', '-A', '-B'])
  })

  test('is not ended or begun by what only tells of tokens, state or an error', () => {
    const events = [
      wholeOf('1', by('A', 'par.A')),
      adkEvent({ ...by('B'), partial: false, usageMetadata: { promptTokenCount: 1 } }),
      adkEvent({ ...by('root'), longRunningToolIds: ['x'] }),
      wholeOf('2', by('A', 'par.A')),
    ]
    expect(course(events)).toEqual(['+A', 'A:1', 'A:2', '-A'])
  })

  test('with an error that names no branch: the text of that agent ends, its siblings go on', () => {
    const events = [
      pieceOf('a1', by('A', 'par.A')),
      pieceOf('b1', by('B', 'par.B')),
      adkEvent({ ...by('A'), errorCode: '500', errorMessage: 'broken' }),
      pieceOf('b2', by('B', 'par.B')),
      wholeOf('b1b2', by('B', 'par.B')),
    ]
    expect(course(events)).toEqual(['+A', 'A:a1', '+B', 'B:b1', 'B:b2', '-B', '-A'])
    const { batches } = translateEvents(events)
    expect(batches[2]).toMatchObject([{ type: 'TEXT_MESSAGE_END', messageId: 'message-1' }])
  })
})

describe('a node of a workflow', () => {
  const options = { rootAuthor: 'wf', isAgent: (author: string) => author === 'writer' }
  const node = (author: string, output: unknown, fields: Partial<Event> = {}) =>
    adkEvent({
      author,
      output,
      content: {
        role: 'model',
        parts: [{ text: typeof output === 'string' ? output : JSON.stringify(output) }],
      },
      nodeInfo: { path: `wf.${author}`, outputFor: [`wf.${author}`] },
      ...fields,
    })
  const written = wholeOf('draft', {
    author: 'writer',
    output: 'draft',
    nodeInfo: { path: 'wf.writer', messageAsOutput: true },
  })

  test('is a step; what it gives is output, not chat', () => {
    const events = [written, node('up', { upper: 'DRAFT' })]
    expect(course(events, options)).toEqual([
      '+writer',
      'writer:draft',
      '-writer',
      '+step wf.up',
      '-step wf.up',
    ])
    const { translator, marks } = translateEvents(events, options)
    expect(translator.output).toEqual({ upper: 'DRAFT' })
    expect(marks[1]).toEqual({ runId: 'run' })
  })

  test('that gives a text as the last word is the answer, when nothing else was said', () => {
    const { messages, translator } = translateEvents(
      [node('a', { x: 1 }), node('b', 'HI', { id: 'e7' })],
      options,
    )
    expect(messages).toEqual([{ id: 'output-e7', role: 'assistant', name: 'b', content: 'HI' }])
    expect(translator.output).toBe('HI')
  })

  test.each([
    ['something else was said', [written, node('up', 'DRAFT')]],
    ['something else was the last word', [node('a', 'HI'), node('b', { x: 1 })]],
    ['it is empty', [node('a', '')]],
    ['the run failed', [node('a', 'HI'), adkEvent({ author: 'b', errorCode: 'X' })]],
  ])('that gives a text is not the answer when %s', (_name, events) => {
    const { messages } = translateEvents(events, options)
    expect(messages.filter(({ name }) => name !== 'writer')).toEqual([])
  })

  test('that says something besides its output is heard', () => {
    const event = node('a', { x: 1 }, { content: { role: 'model', parts: [{ text: 'Almost there.' }] } })
    expect(course([event], options)).toEqual(['+step wf.a', ':Almost there.', '-step wf.a'])
  })

  test('that gives content without an output is heard, and is at work until another one is', () => {
    const event = wholeOf('Working.', { author: 'a', nodeInfo: { path: 'wf.a' } })
    expect(course([event, written], options)).toEqual([
      ...['+step wf.a', ':Working.', '-step wf.a', '+writer', 'writer:draft', '-writer'],
    ])
  })

  test('that is a tool has a result without a call: a step', () => {
    const event = responseOf(
      'wf.t:1',
      { y: 2 },
      { author: 't', output: { y: 2 }, nodeInfo: { path: 'wf.t' } },
    )
    const { problems, translator, loose } = translateEvents([event], options)
    expect(loose.map(({ type }) => type)).toEqual(['STEP_STARTED', 'STEP_FINISHED'])
    expect([problems, translator.output]).toEqual([[], { y: 2 }])
  })

  test('that joins has no content at all: a step', () => {
    const event = adkEvent({ author: 'join', output: { A: 1 }, nodeInfo: { path: 'wf.join' } })
    expect(course([event], options)).toEqual(['+step wf.join', '-step wf.join'])
  })

  test('that is an agent nobody knew before is heard, with its calls and results', () => {
    const at = { author: 'made', nodeInfo: { path: 'wf.made@1' } }
    const { messages, problems } = translateEvents(
      [wholeOf([{ functionCall: { id: 'c1', name: 'f' } }], at), responseOf('c1', { result: 'ok' }, at)],
      options,
    )
    expect(messages).toMatchObject([{ toolCalls: [{ id: 'c1' }] }, { role: 'tool', content: 'ok' }])
    expect(problems).toEqual([])
  })
})

import type { Event } from '@google/adk'
import { describe, expect, test } from 'vitest'
import {
  adkEvent,
  chunkOf,
  responseOf,
  translateEvents,
  wholeOf,
} from '../../../test/support/adk/translate-events.js'

const stop = { finishReason: 'STOP' as never }
const call = (id: string) => ({ functionCall: { id, name: 'tool', args: {} } })
const used = (prompt: number, candidates: number, more = {}) => ({
  usageMetadata: {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates,
    ...more,
  },
})
/** What came last for a client that AG-UI has no event for. */
const customs = (events: Event[]) =>
  translateEvents(events).loose.flatMap((event) =>
    event.type === 'CUSTOM' ? [[event.name, event.value]] : [],
  )

describe('tokens', () => {
  const totals = (events: Event[]) => translateEvents(events).usage.map(({ totalTokens }) => totalTokens)

  test('are told in the terms of AG-UI', () => {
    const usage = used(10, 5, {
      thoughtsTokenCount: 3,
      cachedContentTokenCount: 4,
      toolUsePromptTokenCount: 2,
    })
    expect(translateEvents([wholeOf('Hi', { ...stop, ...usage, modelVersion: 'gemini-x' })]).usage).toEqual([
      {
        model: 'gemini-x',
        inputTokens: 12,
        outputTokens: 8,
        totalTokens: 20,
        reasoningTokens: 3,
        cachedInputTokens: 4,
      },
    ])
  })

  test('that nobody counted are not told', () => {
    expect(totals([wholeOf('Hi', { usageMetadata: {} })])).toEqual([])
  })

  test('of a streamed answer are counted once, as the last event has them', () => {
    const usage = used(10, 6)
    expect(
      totals([
        chunkOf('a', used(10, 2)),
        chunkOf('b', { ...stop, ...usage }),
        wholeOf('ab', { ...stop, ...usage }),
      ]),
    ).toEqual([16])
  })

  test('of a turn with tools are counted once, with the event that ends it', () => {
    const usage = used(10, 6)
    const tail = adkEvent({ partial: false, ...stop, ...usage })
    const next = [chunkOf('x', used(30, 2)), wholeOf('x', { ...stop, ...used(30, 2) })]
    expect(
      totals([
        chunkOf('a'),
        wholeOf('a', usage),
        wholeOf([call('c')], { ...usage, ...stop }),
        responseOf('c', {}),
        tail,
        ...next,
      ]),
    ).toEqual([16, 32])
  })

  test('of an answer whose calls run while it comes in are counted once', () => {
    const events = [
      wholeOf([call('c1')], used(10, 2)),
      responseOf('c1', {}),
      wholeOf([call('c2')], { ...used(10, 4), ...stop }),
      responseOf('c2', {}),
    ]
    expect(totals([...events, adkEvent({ partial: false, ...used(10, 4), ...stop })])).toEqual([14])
  })

  test('of two calls that are not streamed are counted both, also when they are the same', () => {
    const whole = (id: string) => wholeOf([call(id)], used(10, 2))
    expect(totals([whole('c1'), responseOf('c1', {}), whole('c2'), responseOf('c2', {})])).toEqual([12, 12])
    const ended = (id: string) => wholeOf([call(id)], { ...used(10, 2), ...stop })
    expect(totals([ended('c1'), ended('c2')])).toEqual([12, 12])
  })

  test('of siblings are counted apart', () => {
    const a = { author: 'A', branch: 'p.A' }
    const b = { author: 'B', branch: 'p.B' }
    const events = [
      chunkOf('a', { ...a, ...used(1, 1) }),
      chunkOf('b', { ...b, ...used(5, 5) }),
      wholeOf('a', a),
      wholeOf('b', b),
    ]
    expect(totals(events)).toEqual([2, 10])
  })

  test('of an answer that broke off are counted, and the next one is another', () => {
    const events = [
      chunkOf('a', used(10, 2)),
      adkEvent({ errorCode: '500' }),
      chunkOf('b', used(10, 2)),
      wholeOf('b'),
    ]
    expect(totals(events)).toEqual([12, 12])
  })

  test('of an answer that was refused are counted once', () => {
    const usage = used(10, 0)
    const refused = { errorCode: 'SAFETY', finishReason: 'SAFETY' as never, ...usage }
    expect(totals([adkEvent(refused), adkEvent({ ...refused, partial: false })])).toEqual([10])
  })
})

describe('an error event', () => {
  const failed = adkEvent({ errorCode: '429', errorMessage: 'slow down' })

  test('is what the run failed with, when nothing useful comes after it', () => {
    const { translator, loose } = translateEvents([failed, adkEvent({ partial: false, ...used(1, 0) })])
    expect(translator.error).toEqual({ code: '429', message: 'slow down' })
    expect(loose).toEqual([])
  })

  test.each([
    ['text', chunkOf('Hi')],
    ['a call', wholeOf([call('c')])],
    ['an output', adkEvent({ output: 1 })],
  ])('is only told when %s comes after it', (_name, useful) => {
    const { translator, batches } = translateEvents([failed, useful])
    expect(translator.error).toBeUndefined()
    expect(batches[1]?.[0]).toEqual({
      type: 'CUSTOM',
      name: 'adk.error',
      value: { code: '429', author: 'root' },
    })
  })

  test('makes room for a later one, and comes once when it is repeated', () => {
    const { translator, loose } = translateEvents([failed, failed, adkEvent({ errorCode: '500' })])
    expect(translator.error).toEqual({ code: '500', message: '' })
    expect(loose).toMatchObject([{ name: 'adk.error', value: { code: '429' } }])
  })

  test('leaves the text that was coming in incomplete; the agent that continues takes it back', () => {
    const { batches, messages } = translateEvents([chunkOf('Hal'), failed])
    expect(batches[1]).toEqual([])
    expect(messages).toMatchObject([{ content: 'Hal' }])
    const recovered = translateEvents([chunkOf('Hal'), failed, chunkOf('Hello'), wholeOf('Hello')])
    expect(recovered.messages).toMatchObject([{ content: 'Hello' }])
  })

  test('with text is why the model stopped there, no error', () => {
    const cut = wholeOf('Once upon', { errorCode: 'MAX_TOKENS', finishReason: 'MAX_TOKENS' as never })
    expect(customs([chunkOf('Once upon'), cut])).toEqual([['adk.finish', { reason: 'MAX_TOKENS' }]])
    expect(translateEvents([cut]).translator.error).toBeUndefined()
    expect(customs([wholeOf('Once', { finishReason: 'MAX_TOKENS' as never })])).toEqual([
      ['adk.finish', { reason: 'MAX_TOKENS' }],
    ])
  })

  test('without text is an error when the model has said nothing, and else why it stopped', () => {
    const refused = adkEvent({ partial: false, errorCode: 'SAFETY', finishReason: 'SAFETY' as never })
    expect(translateEvents([chunkOf(''), refused]).translator.error?.code).toBe('SAFETY')
    expect(translateEvents([wholeOf('Hi', stop), chunkOf(''), refused]).translator.error?.code).toBe('SAFETY')
    expect(translateEvents([wholeOf([call('c')]), refused]).translator.error).toBeUndefined()
    expect(customs([wholeOf([call('c')]), refused])).toEqual([['adk.finish', { reason: 'SAFETY' }]])
  })

  test('that says STOP is none', () => {
    expect(translateEvents([adkEvent({ errorCode: 'STOP', ...stop })]).translator.error).toBeUndefined()
  })
})

describe('a retry', () => {
  const retry = wholeOf('Retry attempt 1/3 for agent execution', {
    author: 'system',
    errorCode: 'RETRY_ATTEMPT',
    errorMessage: 'Retry attempt 1/3 for agent execution',
  })

  test('is progress: it is told, takes back what is incomplete, and nothing failed', () => {
    const { batches, translator, messages } = translateEvents([
      chunkOf('Hal'),
      adkEvent({ errorCode: '500' }),
      retry,
      chunkOf('Hello'),
      wholeOf('Hello'),
    ])
    const reason = 'Retry attempt 1/3 for agent execution'
    expect(batches[2]?.at(-1)).toEqual({
      type: 'CUSTOM',
      name: 'millrace.retry',
      value: { reason, messageIds: ['message-1'] },
    })
    expect(translator.error).toBeUndefined()
    expect(messages.map(({ content }) => content)).toEqual(['Hello'])
    expect(translateEvents([chunkOf('Hal'), retry]).messages).toEqual([])
  })

  test('too many is an error', () => {
    const gaveUp = adkEvent({ author: 'system', errorCode: 'MAX_RETRIES_EXCEEDED', errorMessage: 'Gave up.' })
    const { translator, loose } = translateEvents([retry, gaveUp])
    expect(translator.error).toEqual({ code: 'MAX_RETRIES_EXCEEDED', message: 'Gave up.' })
    expect(loose).toHaveLength(1)
  })
})

describe('what AG-UI has no event for', () => {
  test('state is told with the first piece that has it, and not with each', () => {
    const actions = { stateDelta: { k: 1 } } as never
    const { batches } = translateEvents([chunkOf('a', { actions }), chunkOf('b', { actions })])
    expect(batches[0]?.at(-1)).toEqual({ type: 'STATE_SNAPSHOT', snapshot: { k: 1 } })
    expect(batches[1]?.map(({ type }) => type)).toEqual(['TEXT_MESSAGE_CHUNK'])
  })

  test('state that the client may not see is not told', () => {
    const actions = { stateDelta: { 'app:secret': 1 } } as never
    const seen: unknown[] = []
    const changeState = (delta: unknown) => void seen.push(delta)
    expect(translateEvents([adkEvent({ actions })], { changeState }).loose).toEqual([])
    expect(seen).toEqual([{ 'app:secret': 1 }])
  })

  test('artifacts are told, each version once', () => {
    const actions = { artifactDelta: { 'a.txt': 0, 'b.txt': 2 } } as never
    expect(customs([wholeOf('x', { actions }), wholeOf('y', { actions })])).toEqual([
      ['adk.artifact', { name: 'a.txt', version: 0 }],
      ['adk.artifact', { name: 'b.txt', version: 2 }],
    ])
  })

  test('sources and citations are told with their message, once', () => {
    const found = { groundingMetadata: { webSearchQueries: ['q'] }, citationMetadata: { citations: [] } }
    expect(
      customs([chunkOf('a', found), wholeOf('a', found), adkEvent({ partial: false, ...found })]),
    ).toEqual([
      ['adk.grounding', { messageId: 'message-1', metadata: { webSearchQueries: ['q'] } }],
      ['adk.citations', { messageId: 'message-1', metadata: { citations: [] } }],
    ])
  })

  test('metadata is told without our own mark, and when it is JSON', () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const marked = { customMetadata: { millrace: { runId: 'run' }, a: 1 } }
    expect(customs([wholeOf('x', marked)])).toEqual([['adk.metadata', { a: 1 }]])
    expect(customs([wholeOf('x', { customMetadata: { millrace: {} } })])).toEqual([])
    const { problems } = translateEvents([
      adkEvent({ customMetadata: circular }),
      adkEvent({ customMetadata: circular }),
    ])
    expect(problems).toEqual(['the metadata of an event is not JSON; it was left out'])
  })

  test('the progress of a tool is told at once, in the span of its agent, and touches nothing else', () => {
    const a = { author: 'A', branch: 'p.A' }
    const progress = adkEvent({ author: 'A', partial: true, customMetadata: { done: 0.5 } })
    const { batches } = translateEvents([wholeOf([call('c')], a), progress, responseOf('c', {}, a)])
    const tag = (batches[0]?.[0] as { subagentRunId: string }).subagentRunId
    expect(batches[1]).toEqual([
      { type: 'CUSTOM', name: 'adk.metadata', value: { done: 0.5 }, subagentRunId: tag },
    ])
    expect(batches[2]).toMatchObject([{ type: 'TOOL_CALL_RESULT', subagentRunId: tag }])
    expect(translateEvents([{ ...progress, author: 'my_tool' }]).loose).toEqual([
      { type: 'CUSTOM', name: 'adk.metadata', value: { done: 0.5 } },
    ])
  })

  test('code, its results and media are told', () => {
    const executableCode = { code: 'print(1)', language: 'PYTHON' as never }
    const codeExecutionResult = { outcome: 'OUTCOME_OK' as never, output: '1' }
    const inlineData = { mimeType: 'image/png', data: 'aGk=' }
    const fileData = { mimeType: 'image/png', fileUri: 'gs://b/i.png' }
    expect(
      customs([wholeOf([{ executableCode }, { codeExecutionResult }, { inlineData }, { fileData }])]),
    ).toEqual([
      ['adk.code', { executableCode }],
      ['adk.code', { codeExecutionResult }],
      ['adk.media', inlineData],
      ['adk.media', fileData],
    ])
  })

  test('parts that nobody knows are reported once', () => {
    const event = wholeOf([{ hologram: {} } as never, {}, { hologram: {} } as never])
    const { problems, loose } = translateEvents([event])
    expect([problems, loose]).toEqual([["parts with 'hologram' are not sent to clients"], []])
  })
})

describe('spans and steps', () => {
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
        chunkOf('a1', at('A')),
        chunkOf('b1', at('B')),
        chunkOf('a2', at('A')),
        chunkOf('b2', at('B')),
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

    test('with an error that names no branch: the text of that agent breaks off, its siblings go on', () => {
      const events = [
        chunkOf('a1', by('A', 'par.A')),
        chunkOf('b1', by('B', 'par.B')),
        adkEvent({ ...by('A'), errorCode: '500', errorMessage: 'broken' }),
        chunkOf('b2', by('B', 'par.B')),
        wholeOf('b1b2', by('B', 'par.B')),
      ]
      expect(course(events)).toEqual(['+A', 'A:a1', '+B', 'B:b1', 'B:b2', '-B', '-A'])
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
})

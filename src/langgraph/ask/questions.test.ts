import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import type { Answer } from '../../agents/index.js'
import type { GraphInterruption } from '../graph-event.js'
import { breakpointQuestion, clientToolReason, questionsOf } from './questions.js'
import { answersInThread, resumeOf } from './resume.js'

const none = { counts: new Map<string, number>() }
const asked = (value: unknown, id = 'q'): GraphInterruption => ({ id, value, ns: ['sub:1'] })
const yes = (payload: unknown): Answer => ({ status: 'resolved', payload })

describe('questionsOf', () => {
  it('puts what AG-UI has a place for in its place, and keeps all of it', () => {
    const value = {
      reason: 'app:pick',
      message: 'Which?',
      tool_call_id: 'c1',
      responseSchema: { type: 'string' },
      expiresAt: '2030-01-01T00:00:00Z',
      choices: ['a', 'b'],
    }
    expect(questionsOf([asked(value)], none)).toEqual([
      {
        kind: 'value',
        graphId: 'q',
        interrupt: {
          id: 'q:0',
          reason: 'app:pick',
          message: 'Which?',
          toolCallId: 'c1',
          responseSchema: { type: 'string' },
          expiresAt: '2030-01-01T00:00:00Z',
          metadata: { langgraph: { value, ns: ['sub:1'] } },
        },
      },
    ])
  })

  it('takes a text for the message, and leaves out what has another type', () => {
    const [plain] = questionsOf([asked('Sure?')], none)
    expect(plain?.interrupt).toMatchObject({ message: 'Sure?', reason: 'input_required' })
    const [odd] = questionsOf([asked({ message: 7, reason: {}, toolCallId: 1, responseSchema: 'x' })], none)
    expect(Object.keys(odd?.interrupt ?? {}).toSorted()).toEqual(['id', 'metadata', 'reason'])
  })

  it('takes the schema that the graph gives beside the value', () => {
    const [question] = questionsOf([{ ...asked('Sure?'), responseSchema: { type: 'boolean' } }], none)
    expect(question?.interrupt.responseSchema).toEqual({ type: 'boolean' })
  })

  it('is JSON, whatever the graph asks', () => {
    const circle: Record<string, unknown> = { when: new Date(0) }
    const [date] = questionsOf([asked({ ...circle })], none)
    circle.self = circle
    const [broken] = questionsOf([asked(circle)], none)
    expect(date?.interrupt.metadata?.langgraph).toMatchObject({ value: { when: '1970-01-01T00:00:00.000Z' } })
    expect(broken?.interrupt.metadata?.langgraph).toMatchObject({ value: null })
  })

  it('counts the answers before', () => {
    const [question] = questionsOf([asked('Sure?')], { counts: new Map([['q', 3]]) })
    expect(question?.interrupt.id).toBe('q:3')
  })
})

describe('resumeOf', () => {
  const questions = questionsOf([asked('A?', 'a'), asked('B?', 'b')], none)

  it('gives each answer to its question', () => {
    const resume = resumeOf(questions, new Map([['b:0', yes(undefined)]]))
    expect(resume).toMatchObject({ input: { resume: { b: null } }, left: [{ graphId: 'a' }] })
  })

  it('waits without an answer', () => {
    expect(resumeOf(questions, new Map())).toEqual({ type: 'wait', left: questions })
  })

  it('stops at a breakpoint that was cancelled', () => {
    const question = breakpointQuestion({ next: ['b'], checkpointId: 'cp' })
    expect(resumeOf([question], new Map([['breakpoint:cp', { status: 'cancelled' }]]))).toEqual({
      type: 'stop',
    })
  })

  it('takes a change of the state along', () => {
    const resume = resumeOf(questions, new Map([['a:0', yes(1)]]), { city: 'Bern' })
    expect(resume).toMatchObject({ input: { resume: { a: 1 }, update: { city: 'Bern' } } })
  })
})

it('takes the results of client tools for answers', () => {
  const questions = questionsOf(
    [asked({ reason: clientToolReason, toolCallId: 'c1' }), asked({ toolCallId: 'c2' }, 'b')],
    none,
  )
  const results: Message[] = [
    { id: 't1', role: 'tool', toolCallId: 'c1', content: 'Red' },
    { id: 't2', role: 'tool', toolCallId: 'c2', content: 'Blue' },
  ]
  expect([...answersInThread(questions, results)]).toEqual([['q:0', yes(results[0])]])
})

import { ToolMessage } from '@langchain/core/messages'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GraphEvent } from '../graph-event.js'
import {
  callPiece,
  graphStart,
  modelEnd,
  modelStart,
  piece,
  toolStart,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'

interface Part {
  readonly kind: 'text' | 'reasoning' | 'call'
  readonly pieces: readonly string[]
}

const part: fc.Arbitrary<Part> = fc.record({
  kind: fc.constantFrom('text', 'text', 'reasoning', 'call'),
  pieces: fc.array(fc.string({ maxLength: 3 }), { minLength: 1, maxLength: 4 }),
})

/** One model and the tools it calls, as the events of one line of work. */
interface Work {
  readonly parts: readonly Part[]
  readonly isNested: boolean
  readonly isStreamed: boolean
}

const work: fc.Arbitrary<Work> = fc.record({
  parts: fc.array(part, { maxLength: 5 }),
  isNested: fc.boolean(),
  isStreamed: fc.boolean(),
})

const callId = (name: string, index: number) => `${name}-c${index}`

function chunksOf(name: string, { parts }: Work): GraphEvent[] {
  return parts.flatMap(({ kind, pieces }, index) => {
    if (kind === 'text') return pieces.map((text) => piece(text, name))
    if (kind === 'reasoning')
      return pieces.map((text) =>
        piece({ content: '', additional_kwargs: { reasoning_content: text } }, name),
      )
    const args = JSON.stringify({ q: pieces.join('') })
    return [
      piece(callPiece({ id: callId(name, index), name: 'search', args: '', index }), name),
      ...Array.from(args, (char) => piece(callPiece({ args: char, index }), name)),
    ]
  })
}

function eventsOf(name: string, work: Work): GraphEvent[] {
  const graph = `${name}-graph`
  const parentRunId = work.isNested ? graph : undefined
  const chunks = chunksOf(name, work)
  const tools = work.parts.flatMap(({ kind, pieces }, index): GraphEvent[] => {
    if (kind !== 'call') return []
    const toolCallId = callId(name, index)
    const output = new ToolMessage({ content: pieces.join(''), tool_call_id: toolCallId })
    return [
      toolStart(`${toolCallId}-run`, { toolCallId, parentRunId }),
      { type: 'tool-end', runId: `${toolCallId}-run`, output },
    ]
  })
  return [
    ...(work.isNested ? [graphStart(graph)] : []),
    modelStart(name, { parentRunId }),
    ...(work.isStreamed ? chunks : []),
    modelEnd(chunks, name),
    ...tools,
    ...(work.isNested ? [{ type: 'graph-end' as const, runId: graph }] : []),
  ]
}

/** Takes the next event of one line after the other, in the order given. */
function interleave(lines: readonly (readonly GraphEvent[])[], order: readonly number[]): GraphEvent[] {
  const rest = lines.map((line) => [...line])
  const mixed: GraphEvent[] = []
  for (const turn of order) {
    const event = rest[turn % rest.length]?.shift()
    if (event) mixed.push(event)
  }
  return [...mixed, ...rest.flat()]
}

const joined = ({ parts }: Work, wanted: Part['kind']) =>
  parts.flatMap(({ kind, pieces }) => (kind === wanted ? pieces : [])).join('')

test('whatever runs at the same time, every message, thought, call and result stays as it was said', () => {
  fc.assert(
    fc.property(
      fc.array(work, { minLength: 2, maxLength: 3 }),
      fc.array(fc.nat(5), { maxLength: 150 }),
      (works, order) => {
        const names = works.map((_, index) => `m${index}`)
        const lines = works.map((work, index) => eventsOf(names[index] ?? '', work))
        const { messages, problems } = translateEvents(interleave(lines, order))
        expect(problems).toEqual([])
        for (const [index, work] of works.entries()) {
          const name = names[index] ?? ''
          const own = messages.find(({ id }) => id === `run-${name}`)
          expect(own?.content ?? '').toBe(joined(work, 'text'))
          const thoughts = messages.filter(({ id }) => String(id).startsWith(`run-${name}:reasoning`))
          expect(thoughts.map(({ content }) => content).join('')).toBe(joined(work, 'reasoning'))
          expectCalls(messages, name, work)
        }
      },
    ),
    { numRuns: 60 },
  )
})

function expectCalls(messages: readonly Record<string, unknown>[], name: string, { parts }: Work): void {
  const own = messages.find(({ id }) => id === `run-${name}`)
  const calls = (own?.toolCalls ?? []) as { id: string; function: { arguments: string } }[]
  for (const [index, { kind, pieces }] of parts.entries()) {
    if (kind !== 'call') continue
    const id = callId(name, index)
    const args = calls.find((call) => call.id === id)?.function.arguments ?? ''
    expect(JSON.parse(args)).toEqual({ q: pieces.join('') })
    expect(messages.filter(({ toolCallId }) => toolCallId === id)).toMatchObject([
      { content: pieces.join('') },
    ])
  }
}

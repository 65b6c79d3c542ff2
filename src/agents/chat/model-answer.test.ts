import { expect, it } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import type { ModelPart } from '../../models/index.js'
import { ModelAnswer } from './model-answer.js'

function addPart(answer: ModelAnswer, part: ModelPart): void {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') answer.addDelta(part)
  else answer.add(part)
}

const call: ModelPart[] = [
  { type: 'tool-call-start', toolCallId: 'c1', toolName: 'f' },
  { type: 'tool-call-end', toolCallId: 'c1' },
]

it('keeps a call behind the reasoning that led to it, also when text came before', () => {
  const answer = new ModelAnswer({ newId: sequentialIds(), callId: (id) => id })
  const parts: ModelPart[] = [
    { type: 'reasoning-delta', delta: 'first' },
    { type: 'text-delta', delta: 'One moment.' },
    { type: 'reasoning-delta', delta: 'second' },
    { type: 'reasoning-end', encryptedValue: 'signed' },
    ...call,
  ]
  for (const part of parts) addPart(answer, part)
  expect(answer.messages).toMatchObject([
    { role: 'reasoning', content: 'first' },
    { role: 'assistant', content: 'One moment.' },
    { role: 'reasoning', content: 'second', encryptedValue: 'signed' },
    { role: 'assistant', toolCalls: [{ id: 'c1' }] },
  ])
})

it('puts a call that follows its text into the same message', () => {
  const answer = new ModelAnswer({ newId: sequentialIds(), callId: (id) => id })
  for (const part of [{ type: 'text-delta', delta: 'Look:' } as const, ...call]) addPart(answer, part)
  expect(answer.messages).toMatchObject([{ role: 'assistant', content: 'Look:', toolCalls: [{ id: 'c1' }] }])
})

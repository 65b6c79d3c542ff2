import { expect } from 'vitest'
import type { Model, ModelPart, ModelRequest } from '../../src/models/index.js'

/** A request with a signal that never aborts, unless another is given. */
export function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [{ id: 'u', role: 'user', content: 'hello' }],
    signal: new AbortController().signal,
    ...fields,
  }
}

/** All parts of an answer, checked against the contract of the port. */
export async function partsOf(model: Model, fields: Partial<ModelRequest> = {}): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request(fields))) parts.push(part)
  expect(brokenRules(parts)).toEqual([])
  return parts
}

/** What an answer does not keep of the contract: what is begun is ended, and `finish` comes once and last. */
export function brokenRules(parts: readonly ModelPart[]): string[] {
  const broken: string[] = []
  const calls = new Map<string, 'open' | 'ended'>()
  let open: 'text' | 'reasoning' | undefined
  for (const [index, part] of parts.entries()) {
    const where = `${index} ${part.type}`
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const kind = part.type === 'text-delta' ? 'text' : 'reasoning'
      if (open !== undefined && open !== kind) broken.push(`${where}: ${open} is open`)
      if (part.delta === '') broken.push(`${where}: nothing in it`)
      open = kind
    } else if (part.type === 'text-end' || part.type === 'reasoning-end') {
      const kind = part.type === 'text-end' ? 'text' : 'reasoning'
      const isAlone = open === undefined && part.type === 'reasoning-end' && part.encryptedValue !== undefined
      if (open !== kind && !isAlone) broken.push(`${where}: not open`)
      open = undefined
    } else if (open !== undefined && part.type !== 'tool-call-delta') broken.push(`${where}: ${open} is open`)
    if (part.type === 'tool-call-start') {
      if (calls.has(part.toolCallId)) broken.push(`${where}: told twice`)
      calls.set(part.toolCallId, 'open')
    }
    if (part.type === 'tool-call-delta' && calls.get(part.toolCallId) !== 'open')
      broken.push(`${where}: not open`)
    if (part.type === 'tool-call-end') {
      if (calls.get(part.toolCallId) !== 'open') broken.push(`${where}: not open`)
      calls.set(part.toolCallId, 'ended')
    }
    if (part.type === 'finish' && index < parts.length - 1) broken.push(`${where}: not last`)
  }
  for (const [id, state] of calls) if (state === 'open') broken.push(`${id} never ends`)
  if (parts.at(-1)?.type !== 'finish') broken.push('no finish')
  return broken
}

/** The text, the reasoning and the arguments of an answer, put together. */
export function wholeOf(parts: readonly ModelPart[]) {
  const joined = (type: 'text-delta' | 'reasoning-delta') =>
    parts.map((part) => (part.type === type ? part.delta : '')).join('')
  const calls = parts
    .filter((part) => part.type === 'tool-call-start')
    .map(({ toolCallId: id, toolName: name }) => ({
      id,
      name,
      args: parts
        .map((part) => (part.type === 'tool-call-delta' && part.toolCallId === id ? part.delta : ''))
        .join(''),
    }))
  return { text: joined('text-delta'), reasoning: joined('reasoning-delta'), calls }
}

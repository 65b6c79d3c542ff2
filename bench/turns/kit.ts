import { defineAgent } from 'millrace'
import type { Model, ModelPart } from 'millrace/models'
import { compareTurns } from './compare-turns.js'
import { wholeServer } from './conversation.js'
import { leastServer } from './least-server.js'

/** Answers with one word, and looks at no message: what a provider does with a long prompt is its own. */
const model: Model = {
  provider: 'bench',
  modelId: 'terse',
  async *stream(): AsyncGenerator<ModelPart> {
    await Promise.resolve()
    yield { type: 'text-delta', delta: 'Yes.' }
    yield { type: 'finish', reason: 'stop' }
  },
}

export function benchKitTurns(): Promise<string[]> {
  return compareTurns({
    name: 'kit',
    ours: () => wholeServer(defineAgent({ name: 'talker', model })),
    floor: () =>
      leastServer(async function* () {
        const request = { messages: [], signal: new AbortController().signal }
        for await (const part of model.stream(request)) if (part.type === 'text-delta') yield part.delta
      }),
  })
}

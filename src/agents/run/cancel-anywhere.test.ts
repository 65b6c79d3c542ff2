import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linted, settled } from '../../../test/support/run-agent.js'
import { scriptedModel, type ModelRequest, type ScriptPiece } from '../../models/index.js'
import { agentTool } from '../tools/agent-tool.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { run } from './run.js'

const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })

/** An agent that does a bit of everything, and counts what it has begun and not ended. */
function build() {
  const open = new Set<string>()
  const begin = (what: string) => {
    open.add(what)
    return () => open.delete(what)
  }
  const model = (answers: readonly (readonly ScriptPiece[])[]) => {
    const inner = scriptedModel((request: ModelRequest) => {
      const turn = request.messages.filter(({ role }) => role === 'assistant').length
      return answers[turn] ?? []
    })
    return {
      ...inner,
      async *stream(request: ModelRequest) {
        const end = begin(`model ${crypto.randomUUID()}`)
        try {
          yield* inner.stream(request)
        } finally {
          end()
        }
      },
    }
  }
  const work = defineTool({
    name: 'work',
    description: 'Works.',
    async *execute(_args, ctx) {
      const end = begin(`tool ${ctx.toolCallId}`)
      try {
        for (let step = 0; step < 3; step++) {
          await Promise.resolve()
          ctx.setState((state: { steps?: string[] }) => ({ steps: [...(state.steps ?? []), ctx.toolCallId] }))
          yield { step }
        }
        return 'worked'
      } finally {
        await Promise.resolve()
        end()
      }
    },
  })
  const inner = defineAgent({
    name: 'inner',
    description: 'Inner.',
    model: model([
      [{ reasoning: 'Hm.' }, 'Inside.', call('i1', 'work'), call('i2', 'work')],
      ['Inner done.'],
    ]),
    tools: [work],
  })
  const agent = defineAgent({
    name: 'outer',
    model: model([
      [
        { reasoning: 'Hm.' },
        'Wait.',
        call('o1', 'work'),
        call('o2', 'inner', { request: 'Go.' }),
        call('o3', 'work'),
      ],
      ['All ', 'done.'],
    ]),
    tools: [work, agentTool(inner)],
  })
  return { agent, open }
}

async function eventCount(): Promise<number> {
  let count = 0
  for await (const _event of linted(run(build().agent, 'Go.'), 'Go.')) count++
  return count
}

const rejections: unknown[] = []
const onRejection = (error: unknown): void => void rejections.push(error)
beforeAll(() => void process.on('unhandledRejection', onRejection))
afterAll(async () => {
  await settled()
  process.off('unhandledRejection', onRejection)
  expect(rejections).toEqual([])
})

describe('wherever a run is stopped', () => {
  test('it ends as cancelled with a valid stream, and all it began is ended', async () => {
    const count = await eventCount()
    expect(count).toBeGreaterThan(60)
    for (let at = 1; at < count; at++) {
      const { agent, open } = build()
      const running = run(agent, [], { bufferSize: at % 5 })
      let read = 0
      for await (const _event of linted(running, [])) if (++read === at) running.cancel()
      expect([at, (await running.result).type]).toEqual([at, 'cancelled'])
      expect([at, ...open]).toEqual([at])
    }
  })

  test('by a reader who leaves, it ends as cancelled, and all it began is ended', async () => {
    const count = await eventCount()
    for (let at = 1; at < count; at++) {
      const { agent, open } = build()
      const running = run(agent, 'Go.', { bufferSize: at % 5 })
      let read = 0
      for await (const _event of linted(running, 'Go.')) if (++read === at) break
      expect([at, (await running.result).type]).toEqual([at, 'cancelled'])
      expect([at, ...open]).toEqual([at])
    }
  })
})

import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toolOf, watchTurns, type WatchedLoop } from '../../../test/support/watch-turns.js'
import { scriptedModel, type ScriptedAnswer } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

/** Lets `count` rounds of promise reactions pass. */
async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) await Promise.resolve()
}

const hops = fc.nat(60)
const answers = fc.array(
  fc.record({ type: fc.constantFrom('text', 'work', 'ask', 'client', 'fail'), before: hops, within: hops }),
  { maxLength: 6 },
)
const mode = fc.constantFrom('queue', 'preempt', 'after-tools', 'now')
const actions = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ type: fc.constant('push'), mode, count: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('pass'), rounds: hops }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('serve') }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('restart'),
        at: fc.constantFrom('end', 'model', 'tools', 'now'),
      }),
    },
  ),
  { minLength: 1, maxLength: 14 },
)

type Answers = typeof answers extends fc.Arbitrary<infer T> ? T : never
type Action = (typeof actions extends fc.Arbitrary<infer T> ? T : never)[number]

/** An agent that does what the list says, one entry each time its model is asked, and then only talks. */
function agentOf(list: Answers, seen: Set<string>) {
  const work = toolOf('work', async () => {
    await rounds(40)
    return 'worked'
  })
  const ask = toolOf('ask', async ({ interrupt }) => {
    const answer = await interrupt({ message: 'Well?' })
    return answer.status
  })
  const model = scriptedModel(async ({ messages }, index): Promise<ScriptedAnswer> => {
    for (const { id, role } of messages) if (role === 'user') seen.add(id)
    const { type, before, within } = list[index] ?? { type: 'text', before: 0, within: 0 }
    await rounds(before)
    if (type === 'fail') return [{ error: { status: 400 } }]
    const said = ['Some ', { wait: rounds(within) }, 'text.']
    return type === 'text' ? said : [...said, { toolCall: { id: `call-${index}`, name: type } }]
  })
  return defineAgent({ name: 'a', model, tools: [work, ask] })
}

const tools = [{ name: 'client', description: 'The client does it.', parameters: {} }]

/** Does what a client has to do. */
function serve({ loop }: WatchedLoop): void {
  const { openInterrupts, pendingToolCalls } = loop
  if (openInterrupts.length > 0)
    loop.answer(openInterrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' })))
  for (const { id } of pendingToolCalls)
    loop.push({ id: `result-${id}`, role: 'tool', toolCallId: id, content: 'done' })
}

test('no message is lost or doubled, the order is kept, and every turn is valid, whenever what is pushed', async () => {
  const property = async (list: Answers, todo: readonly Action[]): Promise<void> => {
    const seen = new Set<string>()
    const agent = agentOf(list, seen)
    const pushed: string[] = []
    let watched = watchTurns(agent, { tools })
    for (const action of todo) {
      if (action.type === 'pass') await rounds(action.rounds)
      else if (action.type === 'serve') serve(watched)
      else if (action.type === 'push') {
        const messages = Array.from({ length: action.count }, (_, index): Message => {
          return { id: `u${pushed.length + index}`, role: 'user', content: 'Hi!' }
        })
        pushed.push(...messages.map(({ id }) => id))
        watched.loop.push(messages, { mode: action.mode })
      } else {
        await watched.loop.stop({ at: action.at })
        watched.turns()
        watched = watchTurns(agent, {
          tools,
          saved: JSON.parse(JSON.stringify(watched.loop.save())) as unknown,
        })
      }
    }
    const { loop, ends } = watched
    await loop.idle()
    while (loop.status !== 'idle') {
      serve(watched)
      await loop.idle()
    }
    expect(loop.messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(pushed)
    expect([...seen].sort()).toEqual([...pushed].sort())
    expect(loop.unhandled).toEqual([])
    expect(ends()).not.toContain(undefined)
    expect(new Set(loop.messages.map(({ id }) => id)).size).toBe(loop.messages.length)
  }
  await fc.assert(fc.asyncProperty(answers, actions, property), { numRuns: propertyRuns(300) })
})

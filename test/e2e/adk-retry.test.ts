import { FunctionTool, InMemorySessionService, LlmAgent, START, Workflow } from '@google/adk'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { withRetry } from '../../src/index.js'
import { asked, callId, clientTool, historyOf, serveAdk, textIn } from '../support/adk/serve-adk.js'
import { callsTool, partial, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { failsWith } from '../support/adk/session-rig.js'
import { ofType } from '../support/run-agent.js'
import { linesOf } from '../support/serve-agents.js'

const runs: string[] = []
const pay = new FunctionTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ amount: z.number() }),
  execute: ({ amount }) => {
    runs.push(String(amount))
    return { paid: amount }
  },
})

async function servePatient(steps: readonly LlmStep[], maxRetries = 2) {
  runs.length = 0
  const llm = new ScriptedLlm(steps)
  const sessionService = new InMemorySessionService()
  const make = () =>
    withRetry(fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [pay] }), { sessionService }), {
      maxRetries,
      delayMs: 0,
    })
  const served = await serveAdk({ make })
  const session = async () => {
    const found = await sessionService.getSession({
      appName: 'helper',
      userId: 'local',
      sessionId: 'thread-1',
    })
    return found?.events ?? []
  }
  return { llm, served, session }
}

const busy = [failsWith(503)]

it('a model that fails is asked again: the message is stored once, and what was half said is taken back', async () => {
  const { llm, served, session } = await servePatient([
    [partial('Half a wo'), failsWith(503)],
    busy,
    says('All of it.'),
    says('Bye.'),
  ])
  const talk = served.talk()
  const events = await talk.say('Go')
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  expect(ofType(events, 'CUSTOM').filter(({ name }) => name === 'millrace.retry')).toHaveLength(2)
  expect(llm.calls.map((contents) => asked(contents))).toEqual([['user: Go'], ['user: Go'], ['user: Go']])
  const said = (await session()).filter(({ author, content }) => author === 'user' && content)
  expect(said).toHaveLength(1)
  await talk.say('Bye')
  expect(asked(llm.calls[3])).toEqual(['user: Go', 'model: All of it.', 'user: Bye'])
})

it('a tool that has run does not run again', async () => {
  const { llm, served, session } = await servePatient([
    callsTool({ name: 'pay', args: { amount: 3 } }),
    busy,
    busy,
    says('Paid.'),
    says('Bye.'),
  ])
  const talk = served.talk()
  const events = await talk.say('Pay')
  expect([textIn(events), runs]).toEqual(['Paid.', ['3']])
  expect(ofType(events, 'TOOL_CALL_START')).toHaveLength(1)
  expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(1)
  const paid = ['user: Pay', 'model: pay({"amount":3})', 'user: pay -> {"paid":3}']
  for (const index of [1, 2, 3]) expect(asked(llm.calls[index])).toEqual(paid)
  const said = (await session()).filter(({ author, content }) => author === 'user' && content)
  expect(said).toHaveLength(1)
  expect(linesOf(await historyOf(served))).toEqual([
    'user: Pay',
    'assistant: pay({"amount":3})',
    'tool: {"paid":3}',
    'assistant: Paid.',
  ])
  await talk.say('Bye')
  expect(asked(llm.calls[4])).toEqual([...paid, 'model: Paid.', 'user: Bye'])
})

it('one RUN_ERROR when it never works, and the thread goes on', async () => {
  const { llm, served, session } = await servePatient([busy, busy, busy, says('Fine.')])
  const talk = served.talk()
  await talk.say('Go').catch(() => undefined)
  const events = talk.streams[0]?.events ?? []
  expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'MAX_RETRIES_EXCEEDED' }])
  expect(events.at(-1)?.type).toBe('RUN_ERROR')
  expect(llm.calls).toHaveLength(3)
  expect(textIn(await talk.say('Again'))).toBe('Fine.')
  const said = (await session()).filter(({ author, content }) => author === 'user' && content)
  expect(said.length).toBeGreaterThanOrEqual(2)
  expect(asked(llm.calls[3]).join('\n').match(/Go/g)).toHaveLength(1)
})

it('a refusal is not tried again', async () => {
  const { llm, served } = await servePatient([[failsWith(400)], says('x')])
  const talk = served.talk()
  await talk.say('Go').catch(() => undefined)
  expect(ofType(talk.streams[0]?.events ?? [], 'RUN_ERROR')).toMatchObject([{ code: 'MODEL_ERROR' }])
  expect(llm.calls).toHaveLength(1)
})

it('an answer to a client’s tool is given once over all attempts', async () => {
  const { llm, served, session } = await servePatient([callsTool({ name: 'pick' }), busy, says('Red.')])
  const talk = served.talk()
  const tools = [clientTool('pick')]
  const first = await talk.say('Go', { tools })
  const events = await talk.answer({ [callId(first, 'pick')]: 'red' }, { tools })
  expect(textIn(events)).toBe('Red.')
  expect(asked(llm.calls[2])).toEqual(['user: Go', 'model: pick({})', 'user: pick -> {"result":"red"}'])
  const responses = (await session()).flatMap(({ content }) =>
    (content?.parts ?? []).filter(({ functionResponse }) => functionResponse),
  )
  expect(responses).toHaveLength(1)
})

it('nodes of a workflow that are done are not run again', async () => {
  runs.length = 0
  const a = new ScriptedLlm([says('A.')])
  const b = new ScriptedLlm([callsTool({ name: 'pay', args: { amount: 3 } }), busy, says('B.')])
  const nodes = [new LlmAgent({ name: 'a', model: a }), new LlmAgent({ name: 'b', model: b, tools: [pay] })]
  const root = new Workflow({ name: 'flow', edges: [[START, ...nodes]] })
  const served = await serveAdk({ make: () => withRetry(fromAdk(root), { delayMs: 0 }) })
  expect(textIn(await served.talk().say('Go'))).toBe('A.B.')
  expect([a.calls.length, b.calls.length, runs]).toEqual([1, 3, ['3']])
  expect(asked(b.calls[2])).toEqual(['user: A.', 'model: pay({"amount":3})', 'user: pay -> {"paid":3}'])
})

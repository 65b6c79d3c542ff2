import type { ResumeEntry } from '@ag-ui/core'
import { FunctionTool, LlmAgent } from '@google/adk'
import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, run, type Agent, type Checkpoint } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { ServerOptions } from '../../src/server/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { interruptsIn, textIn } from '../support/adk/serve-adk.js'
import { ofType } from '../support/run-agent.js'
import { serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'
import { historyOf, inputOf, listed, user } from './support-server.js'

/** An agent that asks before it pays, and says so when it has. */
interface Payer {
  readonly agent: Agent
  readonly paid: number[]
}

const parameters = z.object({ amount: z.number() })
const payment = { name: 'pay', description: 'Pays.' }

/** Calls `pay` twice at once; asks for each payment. */
function kitPayer(): Payer {
  const paid: number[] = []
  const pay = defineTool({
    ...payment,
    input: parameters,
    async execute({ amount }, { interrupt }) {
      const answer = await interrupt({ reason: 'confirmation', message: `Pay ${amount}?` })
      if (answer.status === 'resolved') paid.push(amount)
      return 'done'
    },
  })
  const calls = [1, 2].map((amount) => ({ toolCall: { name: 'pay', args: { amount } } }))
  const model = scriptedModel(({ messages }) => (messages.at(-1)?.role === 'user' ? calls : 'Paid.'))
  return { agent: defineAgent({ name: 'payer', model, tools: [pay] }), paid }
}

function adkPayer(): Payer {
  const paid: number[] = []
  const pay = new FunctionTool({
    ...{ ...payment, parameters, requireConfirmation: true },
    execute: ({ amount }) => {
      paid.push(amount)
      return { done: true }
    },
  })
  const call = callsTool({ name: 'pay', args: { amount: 1 } }, { name: 'pay', args: { amount: 2 } })
  const model = new ScriptedLlm([call, says('Paid.'), call, says('Paid.')])
  return { agent: fromAdk(new LlmAgent({ name: 'payer', model, tools: [pay] })), paid }
}

function graphPayer(): Payer {
  const paid: number[] = []
  const pay = (amount: number) => () => {
    interrupt({ message: `Pay ${amount}?` })
    paid.push(amount)
    return {}
  }
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('one', pay(1))
    .addNode('two', pay(2))
    .addNode('tell', () => ({ messages: [{ role: 'assistant', content: 'Paid.' }] }))
    .addEdge(START, 'one')
    .addEdge(START, 'two')
    .addEdge(['one', 'two'], 'tell')
    .compile({ checkpointer: new MemorySaver() })
  return { agent: fromLangGraph(graph, { name: 'payer' }), paid }
}

const payers = [
  ['the kit', kitPayer],
  ['ADK', adkPayer],
  ['LangGraph', graphPayer],
] as const

const yes = { status: 'resolved', payload: { confirmed: true } } as const
const hello = user('u1', 'Pay.')

/** A thread whose run has asked for both payments. */
async function asked(make: () => Payer, options: Omit<ServeAgentsOptions, 'agents'> = {}) {
  const { agent, paid } = make()
  const served = await serveAgents({ ...options, agents: [agent] })
  const send = async (fields: object) => (await served.stream('/run', { body: inputOf(fields) })).events
  const resume = interruptsIn(await send({ messages: [hello] })).map(({ id }): ResumeEntry => ({
    interruptId: id,
    ...yes,
  }))
  expect(resume).toHaveLength(2)
  return { served, paid, send, resume }
}

describe.each(payers)('with an agent of %s', (_runtime, make) => {
  it('an answer to an unknown interrupt beside the open ones does not stand in their way', async () => {
    const { served, paid, send, resume } = await asked(make)
    const stray: ResumeEntry = { interruptId: 'stray', status: 'resolved' }
    const events = await send({ runId: 'run-2', messages: [hello], resume: [stray, ...resume] })
    expect(textIn(events)).toBe('Paid.')
    expect(paid.sort()).toEqual([1, 2])
    expect(served.logged).toContain('warn a run was repaired')
  })

  it('an answer to an unknown interrupt beside one of the open ones asks for the rest again', async () => {
    const { paid, send, resume } = await asked(make)
    const [first, second] = resume
    const stray: ResumeEntry = { interruptId: 'stray', status: 'cancelled' }
    const again = interruptsIn(
      await send({ runId: 'run-2', messages: [hello], resume: [...resume.slice(0, 1), stray] }),
    )
    expect(first).toBeDefined()
    expect(again.map(({ id }) => id)).toEqual([second?.interruptId])
    expect(textIn(await send({ runId: 'run-3', messages: [hello], resume: resume.slice(1) }))).toBe('Paid.')
    expect(paid.sort()).toEqual([1, 2])
  })

  it('answers to unknown interrupts alone are refused, and the open ones stay', async () => {
    const { paid, send, resume } = await asked(make)
    const stray: ResumeEntry = { interruptId: 'stray', status: 'resolved' }
    const refused = await send({ runId: 'run-2', messages: [hello], resume: [stray] })
    expect(ofType(refused, 'RUN_ERROR')).toMatchObject([{ code: 'INVALID_RESUME' }])
    expect(paid).toEqual([])
    expect(textIn(await send({ runId: 'run-3', messages: [hello], resume }))).toBe('Paid.')
  })

  it.each<NonNullable<ServerOptions['history']>>(['server', 'client'])(
    'an approval that is sent again does not pay again, with the history of the %s',
    async (history) => {
      const { served, paid, send, resume } = await asked(make, { history })
      const answer = { messages: [hello], resume }
      expect(textIn(await send({ runId: 'run-2', ...answer }))).toBe('Paid.')
      const before = await historyOf(served.url)
      // The same request, then one of a client that has lost the answer and makes up a new run id.
      for (const runId of ['run-2', 'run-3', 'run-4']) {
        const events = await send({ runId, ...answer })
        const snapshots = history === 'server' ? ['MESSAGES_SNAPSHOT'] : []
        expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', ...snapshots, 'RUN_FINISHED'])
        expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
        // A client that has lost the answer has it again.
        if (history === 'server') expect(events[1]).toMatchObject({ messages: before })
      }
      expect(paid.sort()).toEqual([1, 2])
      expect(await historyOf(served.url)).toEqual(before)
      expect((await listed(served.url))?.messageCount).toBe(before.length)
    },
  )

  it('an approval that is sent again the way of clients before 1.0 does not pay again', async () => {
    const { served, paid, send, resume } = await asked(make)
    const answers = Object.fromEntries(resume.map(({ interruptId }) => [interruptId, yes.payload]))
    const answer = {
      protocolVersion: undefined,
      messages: [hello],
      forwardedProps: { command: { resume: answers } },
    }
    expect(textIn(await send({ runId: 'run-2', ...answer }))).toBe('Paid.')
    const before = await historyOf(served.url)
    const events = await send({ runId: 'run-3', ...answer })
    expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED'])
    expect(paid.sort()).toEqual([1, 2])
    expect(await historyOf(served.url)).toEqual(before)
  })

  it('a new message beside an approval that is sent again is answered, and nothing is cut off', async () => {
    const { served, paid, send, resume } = await asked(make)
    await send({ runId: 'run-2', messages: [hello], resume })
    const before = await historyOf(served.url)
    const events = await send({ runId: 'run-3', messages: [hello, user('u2', 'Once more.')], resume })
    expect(interruptsIn(events)).toHaveLength(2)
    expect(ofType(events, 'CUSTOM').filter(({ name }) => name === 'millrace.forked')).toEqual([])
    expect((await historyOf(served.url)).slice(0, before.length)).toEqual(before)
    expect(paid.sort()).toEqual([1, 2])
  })

  it('without answers, the same list under a new run id regenerates, under the old one it does not', async () => {
    const { send, resume } = await asked(make)
    await send({ runId: 'run-2', messages: [hello], resume })
    const forked = async (runId: string) =>
      ofType(await send({ runId, messages: [hello] }), 'CUSTOM').some(
        ({ name }) => name === 'millrace.forked',
      )
    expect(await forked('run-2')).toBe(false)
    expect(await forked('run-3')).toBe(true)
  })
})

it('a run in process reports answers to unknown interrupts, and takes the others', async () => {
  const { agent, paid } = kitPayer()
  const saved = new Map<string, Checkpoint>()
  const checkpoints = {
    load: (threadId: string) => Promise.resolve(saved.get(threadId)),
    save: (threadId: string, checkpoint: Checkpoint) => Promise.resolve(void saved.set(threadId, checkpoint)),
  }
  const problems: string[] = []
  const options = { checkpoints, onProblem: (problem: string) => problems.push(problem) }
  const first = await run(agent, { threadId: 't', messages: [hello] }, options).result
  if (first.type !== 'interrupted') throw new Error(first.type)
  const resume = first.interrupts.map(({ id }): ResumeEntry => ({ interruptId: id, ...yes }))
  const stray: ResumeEntry = { interruptId: 'stray', status: 'cancelled' }
  const second = await run(agent, { threadId: 't', resume: [...resume, stray] }, options).result
  expect(second).toMatchObject({ type: 'completed', text: 'Paid.' })
  expect(problems).toEqual(["there is no interrupt 'stray'; the answer is ignored"])
  expect(paid.sort()).toEqual([1, 2])
})

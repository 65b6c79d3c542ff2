import { LlmAgent } from '@google/adk'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, sequential, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { partial, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { agentModel, historyOf, textIn } from '../support/langgraph/serve-graph.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'

/** A run that fails in the middle of an answer is tried again when its client sends its messages again. */

interface Failing {
  readonly agent: Agent
  /** What the model was shown, call by call. */
  readonly requests: () => readonly unknown[]
}

const breaks = new Error('The provider hung up.')

function kitAgent(): Failing {
  let calls = 0
  const model = scriptedModel(() => {
    if (++calls > 1) return 'The whole answer.'
    return ['Half of ', { wait: () => Promise.reject(breaks) }]
  })
  return { agent: defineAgent({ name: 'kit', model }), requests: () => model.requests }
}

function adkAgent(): Failing {
  const model = new ScriptedLlm([[partial('Half of '), breaks], says('The whole ', 'answer.')])
  return { agent: fromAdk(new LlmAgent({ name: 'adk', model })), requests: () => model.calls }
}

function graphAgent(): Failing {
  const model = agentModel([
    ['Half of ', breaks],
    ['The whole ', 'answer.'],
  ])
  const { graph } = createAgent({ model, tools: [], checkpointer: new MemorySaver() })
  return { agent: fromLangGraph(graph, { name: 'graph' }), requests: () => model.calls }
}

const makers = { kit: kitAgent, adk: adkAgent, graph: graphAgent }
const names = ['kit', 'adk', 'graph'] as const

describe.each(clientVersions)('with a client of $version', ({ Client }) => {
  it.each(names)('part of an answer of an agent of %s does not count as the answer', async (name) => {
    const { agent, requests } = makers[name]()
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk({ Client })
    // A client of 1.0 throws for RUN_ERROR.
    const failed = await talk.say('Hello.').catch(() => talk.streams.at(-1)?.events ?? [])
    expect(textIn(failed)).toBe('Half of ')
    expect(failed.at(-1)).toMatchObject({ type: 'RUN_ERROR' })
    // The kit takes the draft back at once; other runtimes leave it, marked.
    const draft = { role: 'assistant', content: 'Half of ', metadata: { millrace: { cutOff: true } } }
    expect(await historyOf(served)).toMatchObject([{ role: 'user' }, ...(name === 'kit' ? [] : [draft])])

    const events = await talk.send()
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(textIn(events)).toBe('The whole answer.')
    const expected = [{ role: 'user' }, { role: 'assistant', content: 'The whole answer.' }]
    expect(await historyOf(served)).toMatchObject(expected)
    expect(talk.client.messages).toMatchObject(expected)
    expect(JSON.stringify(requests().at(-1))).not.toContain('Half')
  })
})

it('a step that fails after another has spoken is tried again, and the first answer is kept in a fork', async () => {
  let isBroken = true
  const first = defineAgent({ name: 'first', model: scriptedModel(() => 'Step one.') })
  const second = defineAgent({
    name: 'second',
    model: scriptedModel(() => {
      if (isBroken) throw breaks
      return 'Step two.'
    }),
  })
  const served = await serveAgents({ agents: [sequential({ name: 'both', agents: [first, second] })] })
  const talk = served.talk()
  await talk.say('Go.').catch(() => undefined)
  isBroken = false
  const events = await talk.send()
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(talk.client.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: 'Step one.' },
    { role: 'assistant', content: 'Step two.' },
  ])
  const { body } = await served.ask('GET /thread/list')
  const { threads } = body as { readonly threads: readonly { readonly forkedFrom?: string }[] }
  expect(threads.filter(({ forkedFrom }) => forkedFrom !== undefined)).toHaveLength(1)
})

it('a run that a limit stopped while a tool was at work goes on from there', async () => {
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? [{ toolCall: { id: 'c1', name: 'look' } }] : 'I could not look.',
  )
  const look = defineTool({
    ...{ name: 'look', description: 'Looks.' },
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('Stopped.')))
      }),
  })
  const agent = defineAgent({ name: 'kit', model, tools: [look], limits: { runTimeoutMs: 50 } })
  const served = await serveAgents({ agents: [agent] })
  const talk = served.talk()
  await talk.say('Look!').catch(() => undefined)
  const events = await talk.send()
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(textIn(events)).toBe('I could not look.')
})

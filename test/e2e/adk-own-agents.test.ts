import {
  AgentTool,
  BaseAgent,
  createEvent,
  LlmAgent,
  START,
  Workflow,
  type Event,
  type InvocationContext,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { callId, clientTool, serveAdk, textIn } from '../support/adk/serve-adk.js'

/** Connects to something when it is first needed, as people write it, and counts its own runs. */
class Connecting extends BaseAgent {
  runs = 0
  client: Promise<string> | undefined
  connections = 0

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    this.runs++
    this.client ??= this.connect()
    const { invocationId } = context
    const parts = [{ text: `${await this.client}, run ${this.runs}.` }]
    yield createEvent({ author: this.name, invocationId, content: { role: 'model', parts } })
  }

  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    // Not live.
  }

  private async connect(): Promise<string> {
    this.connections++
    await new Promise((resolve) => setImmediate(resolve))
    return `Connection ${this.connections}`
  }
}

/** Goes through its agents in turn: to the next one when one has said something. */
class InTurn extends BaseAgent {
  next: BaseAgent | undefined

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    this.next ??= this.subAgents[0]
    const chosen = this.next
    for await (const event of chosen?.runAsync(context) ?? []) {
      yield event
      const hasSpoken = event.content?.parts?.some(({ text }) => text) === true
      if (hasSpoken && !event.partial) this.next = this.subAgents.find((agent) => agent !== chosen)
    }
  }

  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    // Not live.
  }
}

describe('fields of an agent of the user’s own class', () => {
  it('keep what a run has written: `this.client ??= connect()` connects once', async () => {
    const agent = new Connecting({ name: 'own' })
    const served = await serveAdk({ make: () => fromAdk(agent) })
    const talk = served.talk()
    expect(textIn(await talk.say('One'))).toBe('Connection 1, run 1.')
    expect(textIn(await talk.say('Two'))).toBe('Connection 1, run 2.')
    expect(textIn(await served.talk({ threadId: 'other' }).say('Three'))).toBe('Connection 1, run 3.')
    expect([agent.runs, agent.connections]).toEqual([3, 1])
  })

  it('are the same for runs at the same time, as with the Runner', async () => {
    const agent = new Connecting({ name: 'own' })
    const served = await serveAdk({ make: () => fromAdk(agent) })
    const threads = ['a', 'b', 'c', 'd']
    await Promise.all(threads.map((threadId) => served.talk({ threadId }).say('Go')))
    expect([agent.runs, agent.connections]).toEqual([4, 1])
  })

  it('keep it when the class extends an agent of ADK', async () => {
    class Counting extends LlmAgent {
      asked = 0

      protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
        this.asked++
        yield* super.runAsyncImpl(context)
      }
    }
    const agent = new Counting({ name: 'own', model: new ScriptedLlm([says('One.'), says('Two.')]) })
    const talk = (await serveAdk({ make: () => fromAdk(agent) })).talk()
    await talk.say('Go')
    expect(textIn(await talk.say('On'))).toBe('Two.')
    expect(agent.asked).toBe(2)
  })

  it('keep it in a workflow and behind a tool', async () => {
    const inside = new Connecting({ name: 'inside' })
    const flow = new Workflow({ name: 'flow', edges: [[START, inside]] })
    const one = (await serveAdk({ make: () => fromAdk(flow) })).talk()
    await one.say('Go')
    await one.say('On')
    expect([inside.runs, inside.connections]).toEqual([2, 1])
    const behind = new Connecting({ name: 'behind' })
    const calls = callsTool({ name: 'behind', args: { request: 'go' } })
    const root = new LlmAgent({
      name: 'root',
      model: new ScriptedLlm([calls, says('One.'), calls, says('Two.')]),
      tools: [new AgentTool({ agent: behind })],
    })
    const two = (await serveAdk({ make: () => fromAdk(root) })).talk()
    await two.say('Go')
    await two.say('On')
    expect([behind.runs, behind.connections]).toEqual([2, 1])
  })

  it('may hold an agent of the tree: the next run begins there, and can wait for the client', async () => {
    const first = new LlmAgent({ name: 'first', model: new ScriptedLlm([says('First.')]) })
    const llm = new ScriptedLlm([callsTool({ name: 'pick' }), says('Red it is.')])
    const second = new LlmAgent({ name: 'second', model: llm })
    const agent = new InTurn({ name: 'in_turn', subAgents: [first, second] })
    const talk = (await serveAdk({ make: () => fromAdk(agent) })).talk()
    expect(textIn(await talk.say('Go'))).toBe('First.')
    expect(agent.next).toBe(second)
    const tools = [clientTool('pick')]
    const asked = await talk.say('On', { tools })
    expect(textIn(await talk.answer({ [callId(asked, 'pick')]: 'red' }, { tools }))).toBe('Red it is.')
    expect(agent.next).toBe(first)
    expect(Object.getPrototypeOf(agent.next)).toBe(LlmAgent.prototype)
  })
})

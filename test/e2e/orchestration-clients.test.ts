import { contentToText, type Interrupt } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { defineAgent, defineTool, parallel, sequential } from '../../src/agents/index.js'
import { supervisor } from '../../src/agents/prebuilt/index.js'
import { scriptedModel, type ModelRequest } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { clientTool } from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'

const done: string[] = []
const book = defineTool({
  name: 'book',
  description: 'Books.',
  execute: async (_args, { interrupt, agentName }) => {
    const answer = await interrupt({ message: `Book for ${agentName}?` })
    done.push(agentName)
    return answer.status
  },
})

/** Books, then says so; what it does next time follows from what it hears. */
function booker(name: string) {
  const model = scriptedModel(({ messages }: ModelRequest) =>
    messages.at(-1)?.role === 'tool' ? `${name} is done.` : [{ toolCall: { name: 'book', args: {} } }],
  )
  return defineAgent({ name, description: `Books for ${name}.`, model, tools: [book] })
}

const boss = scriptedModel(({ messages }: ModelRequest) =>
  messages
    .slice(messages.findLastIndex(({ content }) => content === 'Go.'))
    .some(({ content }) => JSON.stringify(content ?? '').includes('is done'))
    ? 'All is booked.'
    : [{ toolCall: { name: 'transfer_to_agent', args: { agent_name: 'pair' } } }],
)

function questionsIn(events: readonly AgUiEvent[]): readonly Interrupt[] {
  const end = events.at(-1)
  return end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt' ? end.outcome.interrupts : []
}

function textIn(events: readonly AgUiEvent[]): string {
  return ofType(events, 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta)
    .join(' ')
}

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it('a supervisor, two lanes that ask at once, one answer after the other, over restarts, and the next turn', async () => {
    done.length = 0
    const pair = parallel({ name: 'pair', description: 'Both.', agents: [booker('ann'), booker('bob')] })
    const agents = [supervisor({ name: 'boss', model: boss, workers: [pair] })] as const
    const first = await serveAgents({ agents, store: 'sqlite' })
    const threadId = 'thread-1'
    const opening = await first.talk({ Client, threadId }).say('Go.')
    const questions = questionsIn(opening)
    expect(questions.map(({ message }) => message)).toEqual(['Book for ann?', 'Book for bob?'])

    let served = first
    let last: readonly AgUiEvent[] = []
    for (const { id } of [...questions].reverse()) {
      served = await served.restart()
      const talk = served.talk({ Client, threadId })
      last = await talk.send({ resume: [{ interruptId: id, status: 'resolved', payload: 'yes' }] })
    }
    expect(questionsIn(last)).toEqual([])
    expect(textIn(last)).toBe('ann is done. All is booked.')
    expect(done).toEqual(['bob', 'ann'])

    const next = await served.talk({ Client, threadId }).say('Go.')
    expect(questionsIn(next)).toHaveLength(2)
    expect(questionsIn(next).some(({ id }) => questions.some((one) => one.id === id))).toBe(false)
  })

  it('a client tool in the first step of a sequence: the second waits for it', async () => {
    const asked: string[] = []
    const picker = defineAgent({
      name: 'picker',
      model: scriptedModel(({ messages }: ModelRequest) => {
        asked.push('picker')
        const last = messages.at(-1)
        return last?.role === 'tool'
          ? `Picked ${contentToText(last.content)}.`
          : [{ toolCall: { id: 'c1', name: 'pick', args: {} } }]
      }),
    })
    const teller = defineAgent({
      name: 'teller',
      model: scriptedModel(({ messages }: ModelRequest) => {
        asked.push('teller')
        return `Heard: ${contentToText(messages.at(-1)?.content as string)}`
      }),
    })
    const served = await serveAgents({ agents: [sequential({ name: 'line', agents: [picker, teller] })] })
    const talk = served.talk({ Client })
    const tools = [clientTool('pick')]
    await talk.say('Go.', { tools })
    expect(asked).toEqual(['picker'])
    const events = await talk.answer({ c1: 'red' }, { tools })
    expect(textIn(events)).toBe('Picked red. Heard: For context: [picker] said: Picked red.')
    expect(asked).toEqual(['picker', 'picker', 'teller'])
  })
})

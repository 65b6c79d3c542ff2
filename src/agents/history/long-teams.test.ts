import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { countingReads } from '../../../test/support/count-reads.js'
import type { Model } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import type { Agent } from '../contract.js'
import { supervisor } from '../prebuilt/supervisor.js'
import { run } from '../run/run.js'
import { loop } from '../workflows/loop.js'
import { parallel } from '../workflows/parallel.js'

/** A model that does not look at the conversation: what is counted is ours. */
function blindModel(): Model {
  return {
    provider: 'test',
    modelId: 'blind',
    async *stream() {
      yield { type: 'text-delta', delta: await Promise.resolve('Yes.') }
      yield { type: 'finish', reason: 'stop' }
    },
  }
}

/** A model that hands over a number of times. */
function leadModel(times: number): Model {
  let handed = 0
  return {
    ...blindModel(),
    async *stream(request) {
      if (handed++ >= times) {
        yield* blindModel().stream(request)
        return
      }
      const toolCallId = await Promise.resolve(`call-${handed}`)
      yield { type: 'tool-call-start', toolCallId, toolName: 'transfer_to_agent' }
      yield { type: 'tool-call-delta', toolCallId, delta: '{"agent_name":"a"}' }
      yield { type: 'tool-call-end', toolCallId }
      yield { type: 'finish', reason: 'tool-calls' }
    },
  }
}

const agentOf = (name: string): Agent => defineAgent({ name, description: 'Answers.', model: blindModel() })

const teams: readonly { team: string; rounds: (maxIterations: number) => Agent }[] = [
  {
    team: 'two agents in a loop',
    rounds: (maxIterations) => loop({ name: 'team', agents: [agentOf('a'), agentOf('b')], maxIterations }),
  },
  {
    team: 'parallel agents in a loop',
    rounds: (maxIterations) =>
      loop({
        name: 'team',
        agents: [parallel({ name: 'both', agents: [agentOf('a'), agentOf('b')] })],
        maxIterations,
      }),
  },
  {
    team: 'a supervisor and its worker',
    rounds: (times) =>
      supervisor({ name: 'team', model: leadModel(times), workers: [agentOf('a')], maxTransfers: 2 * times }),
  },
]

/** How often the messages of a long history are read. */
async function readsOf(agent: Agent, length: number): Promise<number> {
  const { watch, reads } = countingReads()
  const history = Array.from({ length }, (_, n): Message => {
    const role = n % 2 === 0 ? 'user' : 'assistant'
    return watch<Message>({ id: `m${n}`, role, content: `Message ${n}.` })
  })
  const { result } = run(agent, { messages: history })
  expect(await result).toMatchObject({ type: 'completed', text: 'Yes.' })
  return reads()
}

describe.each(teams)('$team', ({ rounds }) => {
  test('do not read a long history again in every round', async () => {
    const length = 300
    const few = await readsOf(rounds(2), length)
    const many = await readsOf(rounds(22), length)
    expect(many - few).toBeLessThan(length)
  })
})

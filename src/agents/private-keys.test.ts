import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../models/index.js'
import { defineAgent } from './chat/chat-agent.js'
import type { Agent } from './contract.js'
import { deepAgent } from './prebuilt/deep-agent.js'
import { planExecute } from './prebuilt/plan-execute.js'
import { supervisor } from './prebuilt/supervisor.js'
import { withRetry } from './retry/with-retry.js'
import { agentTool } from './tools/agent-tool.js'
import { team } from './transfer/team.js'
import { loop } from './workflows/loop.js'
import { parallel } from './workflows/parallel.js'
import { sequential } from './workflows/sequential.js'

const model = scriptedModel([])

function agent(name: string, privateKeys?: readonly string[]): Agent {
  const made = defineAgent({ name, description: `Is ${name}.`, model })
  return privateKeys ? { ...made, privateKeys } : made
}

const [a, b, plain] = [agent('a', ['x', 'y']), agent('b', ['y', 'z']), agent('plain')]

describe('an agent that is made of others has their private keys', () => {
  it.each<[string, Agent]>([
    ['sequential', sequential({ name: 'n', agents: [a, plain, b] })],
    ['loop', loop({ name: 'n', agents: [a, b], maxIterations: 1 })],
    ['parallel', parallel({ name: 'n', agents: [a, b] })],
    ['team', team({ lead: a, members: [plain, b] })],
    ['supervisor', supervisor({ lead: a, workers: [b] })],
    ['subAgents', defineAgent({ name: 'n', model, tools: [agentTool(a)], subAgents: [b] })],
    ['tools', defineAgent({ name: 'n', model, tools: [agentTool(a), agentTool(b)] })],
    ['deepAgent', deepAgent({ name: 'n', model, tools: [agentTool(a)], subAgents: [b] })],
    ['planExecute', planExecute({ name: 'n', planner: a, executor: plain, replanner: b })],
    ['a tree', withRetry(sequential({ name: 'n', agents: [team({ lead: plain, members: [a] }), b] }))],
  ])('%s', (_, made) => {
    expect([...(made.privateKeys ?? [])].sort()).toEqual(['x', 'y', 'z'])
  })

  it('and none when they have none', () => {
    expect(sequential({ name: 'n', agents: [plain] })).not.toHaveProperty('privateKeys')
  })
})

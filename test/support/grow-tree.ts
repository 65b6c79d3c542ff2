import type { Message } from '@ag-ui/core'
import type { Agent, Control, Interrupting, Tool } from '../../src/agents/contract.js'
import { agentTool } from '../../src/agents/tools/agent-tool.js'
import { defineAgent } from '../../src/agents/chat/chat-agent.js'
import { defineTool } from '../../src/agents/tools/define-tool.js'
import { transferAfter } from '../../src/agents/transfer/team.js'
import { loop } from '../../src/agents/workflows/loop.js'
import { parallel } from '../../src/agents/workflows/parallel.js'
import { sequential } from '../../src/agents/workflows/sequential.js'
import { scriptedModel, type ModelRequest, type ScriptPiece } from '../../src/models/index.js'
import type { AnswerPlan, TreeCall, TreePlan } from './arbitrary-tree.js'

/** What the agents of a tree have done, over all runs. */
export interface TreeLog {
  /** How often each piece of work was finished: by its name in the plan. */
  readonly done: Map<string, number>
  /** How often each call, or each agent written by hand, was finished. */
  readonly finished: Map<string, number>
  /** The questions that were asked, and how a person will answer them. */
  readonly asked: Map<string, AnswerPlan>
  /** What each model was shown, in order. */
  readonly shown: { readonly agent: string; readonly messages: readonly Message[] }[]
}

export function createTreeLog(): TreeLog {
  return { done: new Map(), finished: new Map(), asked: new Map(), shown: [] }
}

/** The tool of the client. */
export const clientTool = { name: 'client', description: "The client's." }

/** Makes the agents of a plan, with no memory of their own. */
export function growTree(plan: TreePlan, log: TreeLog): Agent {
  return grow(plan, { name: 'n', log, isBehindCall: false })
}

interface Growth {
  /** Of the agent, and what the names of those in it begin with. */
  readonly name: string
  readonly log: TreeLog
  /** Whether it works on a tool call: then it has no tools of the client. */
  readonly isBehindCall: boolean
}

function grow(plan: TreePlan, growth: Growth): Agent {
  const { name } = growth
  const description = `The ${name}.`
  const below = (plans: readonly TreePlan[]): Agent[] =>
    plans.map((one, index) => grow(one, { ...growth, name: `${name}-${index}` }))
  switch (plan.kind) {
    case 'chat':
      return growChat({ answers: plan.answers.map((calls) => ({ calls, to: undefined })) }, growth)
    case 'hand':
      return growHand(plan, growth)
    case 'sequential':
    case 'parallel': {
      const agents = below(plan.agents)
      const all = [...agents, ...(plan.again ? agents.slice(0, 1) : [])]
      return { sequential, parallel }[plan.kind]({ name, description, agents: all })
    }
    case 'loop': {
      const agents = [...below(plan.agents), ...(plan.breaks ? [breaker(`${name}-b`)] : [])]
      return loop({ name, description, agents, maxIterations: plan.rounds })
    }
    case 'team': {
      const members = below(plan.members).map((member) => transferAfter(member, name))
      const visits = plan.visits.map((index) => members[index % members.length]?.name)
      return growChat({ answers: visits.map((to) => ({ calls: plan.calls, to })), members }, growth)
    }
  }
}

interface ChatGrowth {
  readonly answers: readonly { readonly calls: readonly TreeCall[]; readonly to: string | undefined }[]
  readonly members?: readonly Agent[]
}

function growChat({ answers, members = [] }: ChatGrowth, growth: Growth): Agent {
  const { name, log, isBehindCall } = growth
  const agentTools = answers.flatMap(({ calls }, answer) =>
    calls.flatMap((call, index): Tool[] => {
      if (call.kind !== 'agent') return []
      const inner = grow(call.tree, { ...growth, name: `${name}-t${answer}${index}`, isBehindCall: true })
      return [agentTool(inner, { isShown: call.isShown, history: call.history })]
    }),
  )
  const pieces = (answer: number): ScriptPiece[] => {
    const current = answers[answer]
    if (!current) return [`Goodbye from ${name}.`]
    const calls = current.calls.map((call, index) => {
      const key = `${name}.${answer}.${index}`
      const own = call.kind === 'client' && !isBehindCall ? 'client' : 'work'
      const tool = call.kind === 'agent' ? `${name}-t${answer}${index}` : own
      const args = call.kind === 'agent' ? { request: key } : { key }
      // The ids of agents that are not shown are known to nobody, in another run not even to it.
      const id = isBehindCall ? `${key}~${log.shown.length}` : key
      return { toolCall: { id, name: tool, args } }
    })
    const handover = { name: 'transfer_to_agent', args: { agent_name: current.to } }
    const to = current.to === undefined ? [] : [{ toolCall: { id: `${name}.${answer}.to`, ...handover } }]
    return [`Answer ${answer} of ${name}.`, ...calls, ...to]
  }
  return defineAgent({
    name,
    description: `The ${name}.`,
    model: scriptedModel((request) => {
      log.shown.push({ agent: name, messages: request.messages })
      return pieces(answersIn(request) % (answers.length + 1))
    }),
    tools: [
      workTool(
        answers.map(({ calls }) => calls),
        growth,
      ),
      ...agentTools,
    ],
    subAgents: members,
  })
}

/** How often the model has answered, also in earlier turns of its agent: those are whole. */
function answersIn({ messages }: ModelRequest): number {
  return messages.filter(({ role }) => role === 'assistant').length
}

function workTool(answers: readonly (readonly TreeCall[])[], { log }: Growth): Tool {
  return defineTool<{ readonly key: string }>({
    name: 'work',
    description: 'Works.',
    parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    async execute({ key }, ctx) {
      const [, answer = '', index = ''] = key.split('.')
      const call = answers[Number(answer)]?.[Number(index)]
      if (!call || call.kind === 'agent') throw new Error(`Nobody planned ${key}.`)
      await pass(call.turns)
      if (call.kind === 'asking') await ask(call, { id: ctx.toolCallId, log, ctx })
      count(log.finished, ctx.toolCallId)
      count(log.done, key)
      return `did ${key}`
    },
  })
}

function growHand(plan: TreePlan & { kind: 'hand' }, { name, log }: Growth): Agent {
  return {
    name,
    description: `The ${name}.`,
    async *run(ctx) {
      await pass(plan.turns)
      await ask({ ...plan, atOnce: false }, { id: ctx.span.address, log, ctx })
      const messageId = ctx.services.newId('message')
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: `Goodbye from ${name}.` }
      yield { type: 'TEXT_MESSAGE_END', messageId }
      count(log.finished, ctx.span.address)
      count(log.done, name)
      return { type: 'done' }
    },
  }
}

function breaker(name: string): Agent {
  return {
    name,
    description: 'Breaks.',
    // eslint-disable-next-line require-yield
    async *run() {
      return await Promise.resolve<Control>({ type: 'break' })
    },
  }
}

interface Asking {
  readonly id: string
  readonly log: TreeLog
  readonly ctx: Interrupting
}

async function ask(
  { questions, atOnce }: { readonly questions: readonly AnswerPlan[]; readonly atOnce: boolean },
  { id, log, ctx }: Asking,
): Promise<void> {
  const one = async (plan: AnswerPlan, index: number): Promise<void> => {
    const message = `${id}?${index}`
    log.asked.set(message, plan)
    const answer = await ctx.interrupt({ message })
    const given = answer.status === 'cancelled' ? 'cancelled' : answer.payload
    const wanted = plan === 'cancelled' ? plan : message
    if (given !== wanted) throw new Error(`${message} was answered with ${JSON.stringify(given)}.`)
  }
  if (atOnce) await Promise.all(questions.map(one))
  else for (const [index, plan] of questions.entries()) await one(plan, index)
}

async function pass(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve()
}

/** Counts one more, or several. */
export function count(counts: Map<string, number>, key: string, times = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + times)
}

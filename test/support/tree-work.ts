import type { TreeCall, TreePlan } from './arbitrary-tree.js'
import { count } from './grow-tree.js'

/** How often each piece of work is to be done, and how often each model is to be asked. */
export interface TreeWork {
  readonly done: ReadonlyMap<string, number>
  readonly answers: ReadonlyMap<string, number>
}

/** All that is to be done in a tree. */
export function workOf(plan: TreePlan): TreeWork {
  const work = { done: new Map<string, number>(), answers: new Map<string, number>() }
  addWork(plan, work, { name: 'n', times: 1, isBehindCall: false })
  return work
}

interface Share {
  readonly name: string
  /** How often the agent has its turn. */
  readonly times: number
  readonly isBehindCall: boolean
}

type Work = Record<keyof TreeWork, Map<string, number>>

function addWork(plan: TreePlan, work: Work, share: Share): void {
  const { name, times } = share
  const below = (one: TreePlan, index: number, factor: number): void =>
    addWork(one, work, { ...share, name: `${name}-${index}`, times: times * factor })
  switch (plan.kind) {
    case 'chat':
      return addCalls(plan.answers, work, share)
    case 'hand':
      return count(work.done, name, times)
    case 'sequential':
    case 'parallel':
      return plan.agents.forEach((one, index) => below(one, index, plan.again && index === 0 ? 2 : 1))
    case 'loop':
      return plan.agents.forEach((one, index) => below(one, index, plan.breaks ? 1 : plan.rounds))
    case 'team': {
      const { members, visits } = plan
      addCalls(
        visits.map(() => plan.calls),
        work,
        share,
      )
      return members.forEach((one, index) => {
        const turns = visits.filter((visit) => visit % members.length === index).length
        if (turns > 0) below(one, index, turns)
      })
    }
  }
}

function addCalls(answers: readonly (readonly TreeCall[])[], work: Work, share: Share): void {
  const { name, times, isBehindCall } = share
  count(work.answers, name, times * (answers.length + 1))
  for (const [answer, calls] of answers.entries()) {
    for (const [index, call] of calls.entries()) {
      if (call.kind === 'agent')
        addWork(call.tree, work, { name: `${name}-t${answer}${index}`, times, isBehindCall: true })
      else if (call.kind !== 'client' || isBehindCall) count(work.done, `${name}.${answer}.${index}`, times)
    }
  }
}

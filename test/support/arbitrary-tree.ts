import fc from 'fast-check'

/** How a person will answer a question. */
export type AnswerPlan = 'resolved' | 'cancelled'

/** What one tool call of a made-up agent does. `turns`: of the event loop, before it settles. */
export type TreeCall =
  | { readonly kind: 'plain' | 'client'; readonly turns: number }
  | {
      readonly kind: 'asking'
      readonly turns: number
      readonly questions: readonly AnswerPlan[]
      readonly atOnce: boolean
    }
  | {
      readonly kind: 'agent'
      readonly tree: TreePlan
      readonly isShown: boolean
      readonly history: 'none' | 'full'
    }

/** A made-up agent, and those in it. */
export type TreePlan =
  /** A model that calls these tools, answer by answer, and then says goodbye. */
  | { readonly kind: 'chat'; readonly answers: readonly (readonly TreeCall[])[] }
  /** Written by hand: it asks, then it speaks. */
  | { readonly kind: 'hand'; readonly turns: number; readonly questions: readonly AnswerPlan[] }
  /** `again`: the first of the agents is also the last. */
  | {
      readonly kind: 'sequential' | 'parallel'
      readonly agents: readonly TreePlan[]
      readonly again: boolean
    }
  /** `breaks`: in the first round. */
  | {
      readonly kind: 'loop'
      readonly agents: readonly TreePlan[]
      readonly rounds: number
      readonly breaks: boolean
    }
  /** A lead that hands over to each of the visited members, by index, and they to it. `calls` go with each handover. */
  | {
      readonly kind: 'team'
      readonly members: readonly TreePlan[]
      readonly visits: readonly number[]
      readonly calls: readonly TreeCall[]
    }

const turns = fc.nat(4)
const questions = fc.array(fc.constantFrom<AnswerPlan>('resolved', 'resolved', 'cancelled'), { maxLength: 2 })

const limits = { maxDepth: 4, depthIdentifier: 'tree', depthSize: 'small' } as const

const simpleCall = fc.oneof(
  fc.record({ kind: fc.constantFrom('plain' as const, 'client' as const), turns }),
  fc.record({ kind: fc.constant('asking' as const), turns, questions, atOnce: fc.boolean() }),
)

const plans = fc.letrec<{ tree: TreePlan; leaf: TreePlan; call: TreeCall }>((tie) => {
  const some = (minLength: number, maxLength: number) => fc.array(tie('tree'), { minLength, maxLength })
  const calls = (minLength: number) => fc.array(tie('call'), { minLength, maxLength: 2 })
  const chat = fc.record({
    kind: fc.constant('chat' as const),
    answers: fc.array(calls(1), { maxLength: 2 }),
  })
  const hand = fc.record({ kind: fc.constant('hand' as const), turns, questions })
  const agentCall = fc.record({
    kind: fc.constant('agent' as const),
    tree: tie('tree'),
    isShown: fc.boolean(),
    history: fc.constantFrom('none' as const, 'full' as const),
  })
  const flow = fc.record({
    kind: fc.constantFrom('sequential' as const, 'parallel' as const, 'parallel' as const),
    agents: some(1, 3),
    again: fc.boolean(),
  })
  const loop = fc.record({
    kind: fc.constant('loop' as const),
    agents: some(1, 2),
    rounds: fc.integer({ min: 1, max: 2 }),
    breaks: fc.boolean(),
  })
  const team = fc.record({
    kind: fc.constant('team' as const),
    members: some(1, 2),
    visits: fc.array(fc.nat(1), { maxLength: 2 }),
    // Not of the client: who hands over does not wait for it.
    calls: calls(0).map((all) => all.filter(({ kind }) => kind !== 'client')),
  })
  return {
    leaf: fc.oneof({ weight: 3, arbitrary: chat }, { weight: 1, arbitrary: hand }),
    call: fc.oneof(limits, { weight: 3, arbitrary: simpleCall }, { weight: 2, arbitrary: agentCall }),
    tree: fc.oneof(
      limits,
      { weight: 3, arbitrary: tie('leaf') },
      { weight: 3, arbitrary: flow },
      { weight: 1, arbitrary: loop },
      { weight: 1, arbitrary: team },
    ),
  }
})

export const treePlan: fc.Arbitrary<TreePlan> = plans.tree

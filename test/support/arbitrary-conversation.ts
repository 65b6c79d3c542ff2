import fc from 'fast-check'

/** What one tool call of a made-up conversation does. */
export type CallPlan =
  | { readonly kind: 'plain' | 'broken' | 'client'; readonly turns: number }
  | { readonly kind: 'progress'; readonly turns: number; readonly steps: number }
  | {
      readonly kind: 'asking'
      readonly turns: number
      readonly questions: readonly Question[]
      readonly atOnce: boolean
    }
  | { readonly kind: 'agent'; readonly turns: number; readonly talk: Talk }

/** How a person will answer a question. */
type Question = 'resolved' | 'cancelled'

/** One answer of the model: what it says, and the calls it makes. */
interface TurnPlan {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly CallPlan[]
}

/** The answers of a model, in order. After the last one it says goodbye. */
export type Talk = readonly TurnPlan[]

// How many turns of the event loop a call takes before it settles: they overtake each other.
const turns = fc.nat(4)
const word = fc.constantFrom('', 'One moment.', 'Let me see, then.')

const simple: fc.Arbitrary<CallPlan> = fc.oneof(
  fc.record({ kind: fc.constantFrom('plain' as const, 'broken' as const), turns }),
  fc.record({ kind: fc.constant('progress' as const), turns, steps: fc.integer({ min: 1, max: 3 }) }),
)
const asking: fc.Arbitrary<CallPlan> = fc.record({
  kind: fc.constant('asking' as const),
  turns,
  questions: fc.array(fc.constantFrom<Question>('resolved', 'resolved', 'cancelled'), {
    minLength: 1,
    maxLength: 3,
  }),
  atOnce: fc.boolean(),
})
const forClient: fc.Arbitrary<CallPlan> = fc.record({ kind: fc.constant('client' as const), turns })

function talkOf(call: fc.Arbitrary<CallPlan>, maxLength: number): fc.Arbitrary<Talk> {
  const turn = fc.record({
    reasoning: word,
    text: word,
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
  })
  return fc.array(turn, { maxLength })
}

function agentOf(talk: fc.Arbitrary<Talk>): fc.Arbitrary<CallPlan> {
  return fc.record({ kind: fc.constant('agent' as const), turns, talk })
}

const innermost = agentOf(talkOf(fc.oneof(simple, asking), 1))
const inner = agentOf(talkOf(fc.oneof(simple, asking, innermost), 2))

/** Conversations with parallel calls that fail, report progress, ask, run agents, or are for the client. */
export const conversation: fc.Arbitrary<Talk> = talkOf(fc.oneof(simple, asking, asking, forClient, inner), 3)

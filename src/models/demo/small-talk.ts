import type { AnswerPiece } from '../written/answer-piece.js'
import type { Situation } from './situation.js'
import { spoken } from './words.js'

const keys = 'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY to talk to a real model.'

const story =
  'Once a mill stood still, for the river ran past it on the other side of the meadow. The miller dug a race, a narrow ' +
  'channel, from the river to the wheel. Neighbours laughed: the river was so wide, and the channel so thin! But all ' +
  'the water that came through it came where it was needed. The wheel turned, slowly first, then evenly, day and ' +
  'night, and nobody asked any more how wide the river was.'

/** What the demo model says when no tool is meant: the first entry that fits. */
const replies: readonly (readonly [RegExp, (situation: Situation) => AnswerPiece[]])[] = [
  [
    /\b(think|reason|why|explain)/i,
    (situation) => [{ reasoning: reflect(situation.said) }, ...introduce(situation)],
  ],
  [/\b(story|poem|long|stream)/i, () => [story]],
  [/\b(help|what can you|who are you|what are you|key|model)\b/i, introduce],
  [/\b(thanks|thank you|great|cool|nice)\b/i, () => ['You are welcome! Anything else?']],
  [/\b(bye|goodbye|see you)\b/i, () => ['Goodbye! Come back any time.']],
  [
    /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b/i,
    (situation) => ['Hello! ', ...introduce(situation)],
  ],
]

/** Answers without a tool. */
export function chat(situation: Situation): AnswerPiece[] {
  const [, reply] = replies.find(([pattern]) => pattern.test(situation.said)) ?? []
  if (reply !== undefined) return reply(situation)
  const heard = situation.said === '' ? '' : `You said: “${situation.said}”. `
  return [heard, ...introduce(situation)]
}

function introduce({ request: { tools = [] } }: Situation): AnswerPiece[] {
  const offer =
    tools.length === 0
      ? 'Ask me for a story to see text stream.'
      : `Ask for what my tools do: ${tools.map(({ name }) => spoken(name)).join(', ')}.`
  return [
    `I am the demo model of Millrace. I follow a few simple rules and need neither a key nor a network. ${offer} ${keys}`,
  ]
}

function reflect(said: string): string {
  const count = said.split(/\s+/).filter((word) => word !== '').length
  return `The message has ${count} ${count === 1 ? 'word' : 'words'}. No rule of mine answers it, and I should not pretend to know. So I say what I am.`
}

import { z } from 'zod'
import { defineAgent, defineTool, type Agent, type Tool } from '../../src/agents/index.js'
import { scriptedModel, type ScriptedAnswer } from '../../src/models/index.js'
import { lastWords } from './agents-chat.js'

/** What the person has answered, in order. */
export type Answers = unknown[]

const approval = z.object({
  approved: z.boolean(),
  arguments: z.object({ to: z.string(), amount: z.number() }).optional(),
  reason: z.string().optional(),
})

const booking = z.object({
  seat: z.enum(['window', 'aisle']),
  bags: z.number().int().min(0),
  isVegetarian: z.boolean().optional(),
  note: z.string().optional(),
})

/** Asks for approval of payments, for details of a booking, and for a plain text. */
export function createAsker(answers: Answers): Agent {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ to: z.string(), amount: z.number() }),
    async execute({ to, amount }, ctx) {
      const answer = await ctx.interrupt({ message: `Pay ${amount} to ${to}?`, responseSchema: approval })
      answers.push(answer)
      return answer.status === 'resolved' && answer.payload.approved ? 'paid' : 'not paid'
    },
  })
  const book = defineTool({
    name: 'book',
    description: 'Books.',
    input: z.object({}),
    async execute(_args, ctx) {
      const answer = await ctx.interrupt({ message: 'Which seat?', responseSchema: booking })
      answers.push(answer)
      return 'booked'
    },
  })
  const decide = defineTool({
    name: 'decide',
    description: 'Decides.',
    input: z.object({}),
    async execute(_args, ctx) {
      const type = { enum: ['approve', 'edit', 'reject'] }
      const answer = await ctx.interrupt({
        message: 'Review this.',
        responseSchema: {
          type: 'object',
          properties: { type, message: { type: 'string' } },
          required: ['type'],
        },
      })
      answers.push(answer)
      return 'decided'
    },
  })
  const wish = defineTool({
    name: 'wish',
    description: 'Asks.',
    input: z.object({}),
    async execute(_args, ctx) {
      answers.push(await ctx.interrupt({ message: 'What do you wish?' }))
      return 'noted'
    },
  })
  return defineAgent({
    ...{ name: 'asker', description: 'Asks first.', tools: [pay, book, decide, wish] satisfies Tool[] },
    model: scriptedModel(({ messages }): ScriptedAnswer => {
      const words = lastWords(messages)
      if (messages.at(-1)?.role === 'tool') return `Done with ${words}.`
      const call = (name: string, args: object = {}) => ({ toolCall: { name, args } })
      if (words === 'two')
        return [call('pay', { to: 'Ann', amount: 5 }), call('pay', { to: 'Bob', amount: 7 })]
      if (words === 'pay') return [call('pay', { to: 'Ann', amount: 5 })]
      return [call(words)]
    }),
  })
}

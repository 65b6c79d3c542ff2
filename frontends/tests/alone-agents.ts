import { z } from 'zod'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { scriptedModel, type ModelRequest } from '../../src/models/index.js'
import { artists } from './a2ui-agents.js'
import { stageAgents, type StagedAgents } from './agents.js'

/** The agents of the other pages, and those for what only CopilotKit's own routes can show. */
export function stageAloneAgents(): StagedAgents & { readonly seen: ModelRequest[] } {
  const { agents, ...staged } = stageAgents()
  const seen: ModelRequest[] = []
  return { agents: [...agents, usher(), notary(), guide(seen), ...artists()], ...staged, seen }
}

/** Lets a person pick a seat, with the page's own tool. */
function usher(): Agent {
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `You sit on ${textOf(last.content)}.`
    return [{ toolCall: { name: 'pick_seat', args: { seats: ['A1', 'B2'] } } }]
  })
  return defineAgent({ name: 'usher', model })
}

/** Asks twice at once: two calls, each with a question of its own. */
function notary(): Agent {
  const model = scriptedModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content))
    if (results.length > 0) return results.join(' ')
    return ['house', 'boat'].map((thing) => ({ toolCall: { name: 'sell', args: { thing } } }))
  })
  const sell = defineTool({
    name: 'sell',
    description: 'Sells a thing, after its owner has agreed.',
    input: z.object({ thing: z.string() }),
    async execute({ thing }, ctx) {
      const answer = await ctx.interrupt({
        message: `Sell the ${thing}?`,
        responseSchema: z.object({ approved: z.boolean() }),
      })
      return `${thing}: ${answer.status === 'resolved' && answer.payload.approved ? 'sold' : 'kept'}.`
    },
  })
  return defineAgent({ name: 'notary', model, tools: [sell] })
}

/** Suggests what to say, and keeps what its model has seen. */
function guide(seen: ModelRequest[]): Agent {
  const model = scriptedModel((request) => {
    seen.push(request)
    const { toolChoice, messages } = request
    if (typeof toolChoice === 'object')
      return [
        {
          toolCall: {
            name: toolChoice.toolName,
            args: {
              suggestions: ['Oslo', 'Bergen'].map((title) => ({ title, message: `What of ${title}?` })),
            },
          },
        },
      ]
    const { content } = messages.findLast(({ role }) => role === 'user') ?? { content: '' }
    return typeof content === 'string' ? `Here is ${content}` : `Here are ${content?.length ?? 0} parts.`
  })
  return defineAgent({ name: 'guide', model })
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content)
}

import type { AgentOptions } from '../chat/chat-agent.js'
import { addInstructions } from '../middlewares/text.js'

type Instructions = AgentOptions['instructions']

/** What somebody tells their agent, and behind it what the pattern it is part of asks of it. */
export function moreInstructions(own: Instructions, more: string): NonNullable<Instructions> {
  if (typeof own !== 'function') return addInstructions(own, more)
  return async (ctx) => addInstructions(await own(ctx), more)
}

import type { AgentOptions } from '../chat/chat-agent.js'

/** Appends to instructions, with a blank line between. */
export function addInstructions(instructions: string | undefined, more: string): string {
  return [instructions, more].filter(Boolean).join('\n\n')
}

/** Appends to the `instructions` of an agent's options. */
export function extendInstructions(
  own: AgentOptions['instructions'],
  more: string,
): NonNullable<AgentOptions['instructions']> {
  if (typeof own !== 'function') return addInstructions(own, more)
  return async (ctx) => addInstructions(await own(ctx), more)
}

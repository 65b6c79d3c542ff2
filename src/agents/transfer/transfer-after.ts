import type { Agent } from '../agent.js'

/** An agent that hands over to another when it is done, whatever its model thinks. */
export function transferAfter(agent: Agent, to: string): Agent {
  return {
    ...agent,
    async *run(ctx) {
      const control = yield* agent.run(ctx)
      const isDone = control.type === 'done' && (control.pendingToolCallIds ?? []).length === 0
      return isDone ? { type: 'transfer', to } : control
    },
  }
}

import type { Agent } from '../agent.js'
import { isDone } from '../control.js'

/** An agent that hands over to another when it is done, whatever its model thinks. */
export function transferAfter(agent: Agent, to: string): Agent {
  return {
    ...agent,
    async *run(ctx) {
      const control = yield* agent.run(ctx)
      return isDone(control) ? { type: 'transfer', to } : control
    },
  }
}

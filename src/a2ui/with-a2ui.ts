import { wrapAgent, type Agent, type Control, type RunContext } from '../agents/index.js'
import type { AgentEvent } from '../protocol/index.js'
import { Surfaces } from './surfaces.js'

/**
 * An agent, of any runtime, whose tools draw on the page: a result with A2UI operations becomes a surface, which is stored
 * with the thread. Tells pages of CopilotKit that the agent does so.
 *
 * @example
 * createServer({ agents: [withA2ui(defineAgent({ name: 'guide', model, tools: [a2uiTool({ model })] }))] })
 */
export function withA2ui(agent: Agent): Agent {
  const wrapped = wrapAgent(agent, (ctx) => runDrawing(agent, ctx))
  const { capabilities = {} } = agent
  return { ...wrapped, capabilities: { ...capabilities, custom: { ...capabilities.custom, a2ui: true } } }
}

async function* runDrawing(agent: Agent, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const surfaces = new Surfaces(ctx)
  const source = agent.run(ctx)
  let isOver = false
  try {
    for (;;) {
      const step = await source.next()
      isOver = step.done === true
      if (step.done === true) return step.value
      const progress = surfaces.showProgress(step.value)
      yield progress ?? step.value
      if (step.value.type === 'TOOL_CALL_RESULT') yield* surfaces.drawResult(step.value)
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    if (!isOver) await source.return({ type: 'cancelled' })
  }
}

import { z } from 'zod'
import { defineAgent, defineTool, parallel, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'

/** Holds a run until a test lets it go on. */
export interface Gate {
  readonly open: () => void
  readonly wait: Promise<void>
}

export function createGate(): Gate {
  let open = (): void => undefined
  const wait = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), wait }
}

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }, ctx) => {
    ctx.setState({ city, asked: 1 })
    return `Rain in ${city}.`
  },
})

/** Agents with something to look at. `gate` is asked for each answer of `slow`. */
export function inspectorAgents(gate: () => Gate): [Agent, ...Agent[]] {
  const helper = defineAgent({
    name: 'helper',
    description: 'Looks at the sky',
    instructions: 'Be brief.',
    model: scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'user'
        ? [{ reasoning: 'Where is that?' }, { toolCall: { name: 'weather', args: { city: 'Oslo' } } }]
        : `It rains, says the sky, and more: ${messages.length}.`
    }),
    tools: [weather],
  })
  const scout = defineAgent({
    name: 'scout',
    description: 'Finds',
    model: scriptedModel(() => 'Found a way there.'),
  })
  const writer = defineAgent({
    name: 'writer',
    description: 'Writes',
    model: scriptedModel(() => 'Wrote it down.'),
  })
  const pair = parallel({ name: 'pair', description: 'Two at once', agents: [scout, writer] })
  const slow = defineAgent({
    name: 'slow',
    description: 'Takes its time',
    model: scriptedModel(() => ['One moment. ', { wait: gate().wait }, 'Here I am.']),
  })
  return [helper, pair, slow]
}

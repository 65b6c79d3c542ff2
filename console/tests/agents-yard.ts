import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { supervisor } from '../../src/agents/prebuilt/index.js'
import { demoModel } from '../../src/models/index.js'
import { z } from 'zod'

/** What a test holds back until it opens it. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
  /** Closes it for the next test. */
  reset(): void
}

export function createGate(): Gate {
  let release: () => void = () => undefined
  let opened = Promise.resolve()
  const reset = (): void => {
    opened = new Promise((resolve) => (release = resolve))
  }
  reset()
  return {
    get opened() {
      return opened
    },
    open: () => release(),
    reset,
  }
}

const model = demoModel({ paceMs: 0 })

const getWeather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string().describe('The name of the city.'), days: z.number().int().optional() }),
  execute: ({ city }) => {
    if (city === 'Nowhere') throw new Error('There is no such city.')
    return { city, temperature: 7, sky: 'rain' }
  },
})

/** An agent that begins, waits for the gate, and ends. */
export function waitingAgent(name: string, gate: Gate): Agent {
  return {
    name,
    description: 'Waits until it may go on.',
    examples: ['Wait for me.'],
    async *run({ signal }) {
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'assistant', delta: 'I wait.' }
      await Promise.race([gate.opened, aborted(signal)])
      return { type: 'done' }
    },
  }
}

/** A graph of two nodes. The second waits for the gate. */
export function graphAgent(gate: Gate): Agent {
  const node = (name: string) => ({ name, description: '', outline: () => ({ kind: 'node' as const }) })
  return {
    name: 'flow',
    description: 'A graph that goes from think to act and back.',
    outline: () => ({
      kind: 'graph',
      agents: [node('think'), node('act')],
      edges: [
        { from: '__start__', to: 'think' },
        { from: 'think', to: 'act', label: 'call' },
        { from: 'act', to: 'think' },
        { from: 'think', to: '__end__' },
      ],
    }),
    async *run({ signal }) {
      yield { type: 'STEP_STARTED', stepName: 'think' }
      yield { type: 'STEP_FINISHED', stepName: 'think' }
      yield { type: 'STEP_STARTED', stepName: 'act' }
      await Promise.race([gate.opened, aborted(signal)])
      yield { type: 'STEP_FINISHED', stepName: 'act' }
      return { type: 'done' }
    },
  }
}

/** A worker of the team waits for the gate. */
export function teamAgent(gate: Gate): Agent {
  const weather = { ...waitingAgent('weather', gate), description: 'Tells the weather in a city.' }
  const hotels = defineAgent({ name: 'hotels', description: 'Finds hotel rooms.', model })
  return supervisor({ name: 'team', description: 'Leads two agents.', model, workers: [weather, hotels] })
}

export function helperAgent(): Agent {
  return defineAgent({
    name: 'helper',
    description: 'Answers at once.',
    model,
    tools: [getWeather],
    examples: ['What is the weather in Oslo?'],
  })
}

/** Asks before it books. */
export function approvalAgent(): Agent {
  const bookTable = defineTool({
    name: 'book_table',
    description: 'Books a table in a restaurant.',
    input: z.object({ restaurant: z.string(), people: z.number().int() }),
    async execute({ restaurant, people }, ctx) {
      const answer = await ctx.interrupt({
        message: `Book a table for ${people} at ${restaurant}?`,
        responseSchema: z.object({ approved: z.boolean() }),
      })
      return answer.status === 'resolved' && answer.payload.approved
        ? 'The table is booked.'
        : 'Nothing is booked.'
    },
  })
  return defineAgent({
    name: 'approval',
    description: 'Asks a person before it acts.',
    model,
    tools: [bookTable],
    examples: ['Book a table for 2 at Maaemo.', 'Reserve a table for five at Noma.'],
  })
}

export function failingAgent(): Agent {
  return {
    name: 'broken',
    description: 'Fails.',
    async *run() {
      await Promise.resolve()
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'assistant', delta: 'I try.' }
      throw new Error('out of order')
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
}

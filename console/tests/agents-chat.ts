import { z } from 'zod'
import {
  agentTool,
  defineAgent,
  defineTool,
  todoList,
  type Agent,
  type ToolContext,
} from '../../src/agents/index.js'
import { scriptedModel, type ScriptedAnswer } from '../../src/models/index.js'

/** Points of a script that a test opens. A gate that is not closed lets everything through. */
export interface Gates {
  close(name: string): void
  open(name: string): void
  wait(name: string): () => Promise<void>
}

export function createGates(): Gates {
  const gates = new Map<string, { readonly promise: Promise<void>; readonly resolve: () => void }>()
  return {
    close(name) {
      let resolve = (): void => undefined
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      gates.set(name, { promise, resolve: () => resolve() })
    },
    open(name) {
      gates.get(name)?.resolve()
      gates.delete(name)
    },
    wait: (name) => async () => await gates.get(name)?.promise,
  }
}

type Message = { readonly role: string; readonly content?: unknown }

/** The words of the user's last message. */
export function lastWords(messages: readonly Message[]): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (typeof content === 'string') return content
  const parts = (content ?? []) as readonly { readonly text?: string }[]
  return parts.map(({ text }) => text ?? '').join('')
}

/** Whether the user's last message has been followed by a tool's result. */
export function hasResult(messages: readonly Message[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return messages.slice(last + 1).some(({ role }) => role === 'tool')
}

const code = 'Here it is:\n\n```ts\nconst answer: number = 42\n```\n\nThat was **all**.'

/** Talks as the tests want it. */
export function createTalker(gates: Gates): Agent {
  let answers = 0
  const model = scriptedModel(
    ({ messages }): ScriptedAnswer => {
      const words = lastWords(messages)
      if (words === 'code') return code
      if (words === 'think')
        return [
          { reasoning: 'I look at it from all sides.' },
          { wait: gates.wait('think') },
          'I have thought.',
          { usage: { inputTokens: 1200, outputTokens: 34 } },
        ]
      if (words === 'story')
        return ['First paragraph.\n\nSecond', { wait: gates.wait('story') }, ' paragraph.']
      if (words === 'fail') return [{ error: { message: 'The model is overloaded.', status: 400 } }]
      if (words.startsWith('long'))
        return Array.from({ length: 60 }, (_, index) => `Paragraph ${index + 1}.\n\n`)
      return `Answer ${++answers} to: ${words}`
    },
    { chunkSize: 8 },
  )
  return defineAgent({
    name: 'talker',
    description: 'Talks about anything.',
    model,
    examples: ['Tell me a joke', 'code'],
  })
}

/** Uses tools that show their progress, and one that fails. */
export function createWorker(gates: Gates): Agent {
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    input: z.object({ to: z.number() }),
    async *execute({ to }) {
      yield { done: 1, total: to, message: 'One is counted' }
      await gates.wait('count')()
      return { counted: to }
    },
  })
  const breaks = defineTool({
    name: 'breaks',
    description: 'Fails.',
    input: z.object({}),
    execute: () => {
      throw new Error('The machine is out of paper.')
    },
  })
  const model = scriptedModel(({ messages }): ScriptedAnswer => {
    if (hasResult(messages)) return 'The work is done.'
    const name = lastWords(messages) === 'break' ? 'breaks' : 'count'
    return [{ toolCall: { name, args: name === 'count' ? { to: 3 } : {} } }]
  })
  return defineAgent({ name: 'worker', description: 'Works with tools.', model, tools: [count, breaks] })
}

/** Asks a researcher and a critic. */
export function createTeam(gates: Gates): Agent {
  const member = (name: string, answer: ScriptedAnswer): Agent =>
    defineAgent({ name, description: `The ${name}.`, model: scriptedModel(() => answer) })
  const researcher = member('researcher', [
    'I have found',
    { wait: gates.wait('research') },
    ' three sources.',
  ])
  const critic = member('critic', 'Two of them are weak.')
  const model = scriptedModel(({ messages }): ScriptedAnswer => {
    if (hasResult(messages)) return 'The team is done.'
    return [
      { toolCall: { name: 'researcher', args: { request: 'Find sources' } } },
      { toolCall: { name: 'critic', args: { request: 'Judge them' } } },
    ]
  })
  return defineAgent({
    ...{ name: 'team', description: 'A team.', model },
    tools: [agentTool(researcher), agentTool(critic)],
  })
}

/** Writes a plan and ticks it off. */
export function createPlanner(gates: Gates): Agent {
  const todos = (first: string, second: string): ScriptedAnswer => [
    {
      toolCall: {
        name: 'write_todos',
        args: {
          todos: [
            { content: 'Find a hotel', status: first },
            { content: 'Book it', status: second },
          ],
        },
      },
    },
  ]
  const model = scriptedModel(async ({ messages }): Promise<ScriptedAnswer> => {
    const results = messages.filter(({ role }) => role === 'tool').length
    if (results === 0) return todos('in_progress', 'pending')
    await gates.wait('plan')()
    return results === 1 ? todos('completed', 'completed') : 'All is booked.'
  })
  return defineAgent({ name: 'planner', description: 'Plans.', model, middlewares: [todoList()] })
}

/** Emits what pages draw: charts, surfaces, activities, steps. */
export function createPainter(gates: Gates): Agent {
  const paint = defineTool({
    name: 'paint',
    description: 'Paints.',
    input: z.object({ what: z.string() }),
    async execute({ what }, ctx) {
      paintEvents(what, ctx)
      await gates.wait('paint')()
      return 'painted'
    },
  })
  const model = scriptedModel(({ messages }): ScriptedAnswer => {
    const words = lastWords(messages)
    if (hasResult(messages)) return `Painted ${words}.`
    if (words === 'dark') return [{ toolCall: { name: 'set_theme', args: { theme: 'dark' } } }]
    if (words === 'where') return [{ toolCall: { name: 'get_location', args: {} } }]
    if (words === 'draw') return [{ toolCall: { name: 'draw_chart', args: chart } }]
    return [{ toolCall: { name: 'paint', args: { what: words } } }]
  })
  return defineAgent({ name: 'painter', description: 'Draws.', model, tools: [paint] })
}

const chart = {
  title: 'Rain in Oslo',
  kind: 'bar',
  labels: ['May', 'June', 'July'],
  series: [{ name: 'mm', values: [40, 60, 85] }],
}

const surface = [
  { version: 'v0.9', createSurface: { surfaceId: 'flights', catalogId: 'basic' } },
  {
    version: 'v0.9',
    updateComponents: {
      surfaceId: 'flights',
      components: [
        { id: 'root', component: 'Column', children: ['title', 'list', 'name'] },
        { id: 'title', component: 'Text', text: { path: '/title' }, variant: 'h2' },
        { id: 'list', component: 'List', children: { componentId: 'flight', path: '/flights' } },
        {
          ...{ id: 'flight', component: 'Button', child: 'number' },
          action: { event: { name: 'book', context: { flight: { path: 'number' }, who: { path: '/who' } } } },
        },
        { id: 'number', component: 'Text', text: { path: 'number' } },
        { id: 'name', component: 'TextField', label: 'Your name', value: { path: '/who' } },
      ],
    },
  },
  {
    version: 'v0.9',
    updateDataModel: {
      ...{ surfaceId: 'flights', path: '/' },
      value: { title: 'Flights to Oslo', flights: [{ number: 'SK 4' }, { number: 'DY 7' }], who: '' },
    },
  },
]

function paintEvents(what: string, ctx: ToolContext): void {
  if (what === 'chart') ctx.emit({ type: 'CUSTOM', name: 'display_chart', value: chart })
  if (what === 'surface')
    ctx.emit({
      ...{ type: 'ACTIVITY_SNAPSHOT', messageId: `surface-${ctx.toolCallId}`, activityType: 'a2ui-surface' },
      content: { a2ui_operations: surface },
    })
  if (what === 'search')
    ctx.emit({
      ...{ type: 'ACTIVITY_SNAPSHOT', messageId: `search-${ctx.toolCallId}`, activityType: 'web-search' },
      content: { message: 'Looks at 12 pages', sites: ['a', 'b'] },
    })
}

import { BaseLlm, FunctionTool, LlmAgent, type LlmRequest, type LlmResponse } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { a2uiTool, basicCatalog, toSurface, withA2ui } from '../../src/a2ui/index.js'
import { a2uiTool as adkA2uiTool, fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { a2uiTool as graphA2uiTool, fromLangGraph, toChatModel } from '../../src/langgraph/index.js'
import { scriptedModel, type ModelRequest } from '../../src/models/index.js'

/** What a model sees, in as far as the scripts look at it. */
interface Seen {
  readonly user: string
  /** The last message, if it is the result of a tool. */
  readonly result: string | undefined
  readonly instructions: string
}

type Call = readonly [name: string, args: Record<string, unknown>]

/** Agents that draw: each of another runtime, and all with the same script. */
export function artists(): readonly Agent[] {
  return [kitArtist(), adkArtist(), graphArtist()]
}

function answer({ user, result }: Seen): string | Call {
  const clicked = /^User performed action "book".*Context: (.*)$/.exec(result ?? '')
  if (clicked) return `Booked ${clicked[1]}.`
  if (result?.includes('"error"')) return 'I cannot draw that.'
  if (result !== undefined) return 'Here you are.'
  if (user.includes('trip')) return ['generate_a2ui', { intent: 'create' }]
  if (user === 'Show.' || user === 'Smash.') return ['show', { broken: user === 'Smash.' }]
  return `You said: ${user}`
}

/** The surface that a model writes, by the words of the person. */
function write({ user, instructions }: Seen): Record<string, unknown> {
  const isRetry = instructions.includes('Previous attempt was invalid')
  const isBroken = user.includes('broken') || (user.includes('shaky') && !isRetry)
  if (instructions.includes('https://example.com/tickets.json'))
    return {
      surfaceId: 'trip',
      components: [
        {
          id: 'root',
          component: 'Ticket',
          to: 'Oslo',
          action: { event: { name: 'book', context: { city: 'Oslo' } } },
        },
      ],
    }
  const components = tripForm.filter(({ id }) => !isBroken || id !== 'label')
  return { surfaceId: 'trip', components, data: { city: 'Oslo', nights: ['two'] } }
}

const tripForm = [
  { id: 'root', component: 'Card', child: 'form' },
  { id: 'form', component: 'Column', children: ['title', 'city', 'nights', 'book'] },
  { id: 'title', component: 'Text', text: 'Your trip', variant: 'h2' },
  { id: 'city', component: 'TextField', label: 'City', value: { path: '/city' } },
  {
    id: 'nights',
    component: 'ChoicePicker',
    label: 'Nights',
    variant: 'mutuallyExclusive',
    options: ['one', 'two'].map((value) => ({ label: value, value })),
    value: { path: '/nights' },
  },
  {
    id: 'book',
    component: 'Button',
    child: 'label',
    variant: 'primary',
    action: { event: { name: 'book', context: { city: { path: '/city' }, nights: { path: '/nights' } } } },
  },
  { id: 'label', component: 'Text', text: 'Book' },
]

/** A surface of the application's own; or one with which a page would go blank, now and whenever it loads the thread. */
function show({ broken }: { readonly broken: boolean }): object {
  if (broken) {
    const surfaceId = 'smashed'
    const components = [{ id: 'root', component: 'Text', text: { path: '/person' } }]
    return {
      a2ui_operations: [
        { version: 'v0.9', createSurface: { surfaceId, catalogId: basicCatalog.catalogId } },
        { version: 'v0.9', updateComponents: { surfaceId, components } },
        { version: 'v0.9', updateDataModel: { surfaceId, path: '/', value: { person: { name: 'Ann' } } } },
      ],
    }
  }
  const components = [
    { id: 'root', component: 'List', children: { componentId: 'flight', path: '/flights' } },
    {
      id: 'flight',
      component: 'Button',
      child: 'number',
      action: { event: { name: 'book', context: { flight: { path: 'number' } } } },
    },
    { id: 'number', component: 'Text', text: { path: 'number' } },
  ]
  return toSurface({
    surfaceId: 'flights',
    components,
    data: { flights: [{ number: 'SK 4' }, { number: 'DY 7' }] },
  })
}

const showTool = { name: 'show', description: 'Shows flights.' }
const showInput = z.object({ broken: z.boolean() })

function mainModel() {
  return scriptedModel((request) => {
    const next = answer(toSeen(request))
    return typeof next === 'string' ? next : [{ toolCall: { name: next[0], args: next[1] } }]
  })
}

function writingModel() {
  return scriptedModel((request) => [{ toolCall: { name: 'render_a2ui', args: write(toSeen(request)) } }])
}

function toSeen({ messages, instructions = '' }: ModelRequest): Seen {
  const textOf = (content: unknown): string =>
    typeof content === 'string' ? content : JSON.stringify(content)
  const last = messages.at(-1)
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => textOf(content))
  return {
    user: textOf(messages.findLast(({ role }) => role === 'user')?.content ?? ''),
    result: last?.role === 'tool' ? textOf(last.content) : undefined,
    instructions: [instructions, ...system].join('\n'),
  }
}

function kitArtist(): Agent {
  const tools = [
    a2uiTool({ model: writingModel() }),
    defineTool({ ...showTool, input: showInput, execute: show }),
  ]
  return withA2ui(defineAgent({ name: 'kit-artist', model: mainModel(), tools }))
}

function graphArtist(): Agent {
  const drawn = (input: { readonly broken: boolean }): string => JSON.stringify(show(input))
  const tools = [
    graphA2uiTool({ model: toChatModel(writingModel()) }),
    tool(drawn, { ...showTool, schema: showInput }),
  ]
  const { graph } = createAgent({ model: toChatModel(mainModel()), tools, checkpointer: new MemorySaver() })
  return withA2ui(fromLangGraph(graph, { name: 'graph-artist' }))
}

function adkArtist(): Agent {
  const tools = [
    adkA2uiTool({ model: new ArtistLlm((seen) => ['render_a2ui', write(seen)]) }),
    new FunctionTool({ ...showTool, parameters: showInput, execute: show }),
  ]
  return withA2ui(fromAdk(new LlmAgent({ name: 'adk_artist', model: new ArtistLlm(answer), tools })))
}

class ArtistLlm extends BaseLlm {
  readonly #answer: (seen: Seen) => string | Call

  constructor(answerTo: (seen: Seen) => string | Call) {
    super({ model: 'artist' })
    this.#answer = answerTo
  }

  override async *generateContentAsync({ contents, config }: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const parts = contents.flatMap(({ role, parts = [] }) => parts.map((part) => ({ role, ...part })))
    const response = parts.at(-1)?.functionResponse?.response
    const result =
      response && (typeof response.result === 'string' ? response.result : JSON.stringify(response))
    const user = parts.findLast(({ role, text }) => role === 'user' && text !== undefined)?.text ?? ''
    const next = this.#answer({ user, result, instructions: JSON.stringify(config?.systemInstruction ?? '') })
    const part =
      typeof next === 'string' ? { text: next } : { functionCall: { name: next[0], args: next[1] } }
    yield await Promise.resolve({ content: { role: 'model', parts: [part] }, partial: false })
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('The artist has no live connection.'))
  }
}

import { describe, expect, it } from 'vitest'
import {
  defineAgent,
  defineTool,
  type Agent,
  type Control,
  type Tool,
  type ToolContext,
} from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'
import type { Hooks } from '../../src/server/index.js'
import { fetchServer } from '../support/fetch-server.js'
import { ofType } from '../support/run-agent.js'

class Point {
  readonly x = 1
  readonly #hidden = 2
  /** A method, as people also write them. */
  readonly move = (): number => this.#hidden
  get sum(): number {
    return this.x + this.#hidden
  }
  size(): number {
    return this.sum
  }
}

class Money {
  toJSON(): string {
    return '5 EUR'
  }
}

class Closed {
  toJSON(): never {
    throw new Error('closed')
  }
}

const circle: Record<string, unknown> = {}
circle.self = circle

const becoming: readonly [what: string, value: unknown, json: unknown][] = [
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['a map', new Map([['a', new Map([[1, 'b']])]]), { a: { 1: 'b' } }],
  [
    'a map whose keys would be one name',
    new Map<unknown, number>([
      [1, 1],
      ['1', 2],
    ]),
    [
      [1, 1],
      ['1', 2],
    ],
  ],
  ['a set', new Set([1, new Set(['a'])]), [1, ['a']]],
  ['a BigInt', 12345678901234567890n, '12345678901234567890'],
  ['no number', [NaN, -Infinity], [null, null]],
  ['an instance of a class', new Point(), { x: 1 }],
  ['an instance with toJSON', new Money(), '5 EUR'],
  ['bytes', new Uint8Array([1, 2]), [1, 2]],
  ['numbers', new Float64Array([0.5, NaN]), [0.5, null]],
  ['large numbers', new BigInt64Array([1n]), ['1']],
  ['undefined in a list', [1, undefined], [1, null]],
  ['an undefined member', { a: undefined, b: 1 }, { b: 1 }],
  ['a key that is a symbol', { [Symbol('k')]: 1, b: 1 }, { b: 1 }],
  ['an error', new TypeError('no'), { name: 'TypeError', message: 'no' }],
]

const refused: readonly [what: string, value: unknown, problem: string][] = [
  ['a function', () => 1, 'is a function'],
  ['a function in a list', [() => 1], '[0] is a function'],
  ['a method', { total: 1, add: () => 1 }, 'add is a function'],
  ['a symbol', { s: Symbol('s') }, 's is a symbol'],
  ['a promise', { p: Promise.resolve() }, 'p is a Promise'],
  ['a circle', circle, 'self contains itself'],
  [
    'a getter that throws',
    {
      get a() {
        throw new Error('closed')
      },
    },
    'a cannot be read',
  ],
  ['a toJSON that throws', { c: [new Closed()] }, 'c[0] cannot be read'],
  ['a regular expression', /a/, 'is a RegExp'],
]

interface Carried {
  readonly events: readonly AgUiEvent[]
  /** What came of the value. */
  readonly json: unknown
  /** What was said of the value. */
  readonly said: string
}

/** What a value becomes at the client, by the way that it goes. */
type Way = (value: unknown) => Promise<Carried>

async function carry(
  agent: Agent,
  hooks: Hooks,
  read: (events: readonly AgUiEvent[]) => unknown,
): Promise<Carried> {
  const made = fetchServer({ agents: [agent], hooks })
  // A hook may refuse the request.
  const events = await made.run({}).catch(() => [])
  const results = ofType(events, 'TOOL_CALL_RESULT').map(({ content }) => JSON.stringify(content))
  const errors = ofType(events, 'RUN_ERROR').map(({ message }) => message)
  return { events, json: read(events), said: [...results, ...errors, made.logText()].join('\n') }
}

const custom = (value: unknown): AgentEvent => ({ type: 'CUSTOM', name: 'mine', value })
const readCustom = (events: readonly AgUiEvent[]): unknown => {
  const value: unknown = ofType(events, 'CUSTOM')[0]?.value
  return Reflect.get(Object(value), 'v')
}
const readState = (events: readonly AgUiEvent[]): unknown => {
  const value: unknown = ofType(events, 'STATE_SNAPSHOT').at(-1)?.snapshot
  return Reflect.get(Object(value), 'v')
}

const toolAgent = (
  execute: (ctx: ToolContext) => unknown,
  more: Pick<Tool, 'returnDirectly'> = {},
): Agent => {
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    execute: (_args, ctx) => execute(ctx),
    ...more,
  })
  return defineAgent({
    name: 'a',
    model: scriptedModel([[{ toolCall: { name: 'work' } }], 'Done.']),
    tools: [tool],
  })
}

const byHand = (yielded: readonly AgentEvent[], end: Control = { type: 'done' }): Agent => ({
  name: 'a',
  description: '',
  async *run() {
    yield* yielded
    return await Promise.resolve(end)
  },
})

const ways: Readonly<Record<string, Way>> = {
  'returned by a tool': (v) =>
    carry(
      toolAgent(() => ({ v })),
      {},
      (events) => {
        const text = ofType(events, 'TOOL_CALL_RESULT')[0]?.content
        return typeof text === 'string' && text.startsWith('{')
          ? Reflect.get(Object(JSON.parse(text)), 'v')
          : undefined
      },
    ),
  'returned directly': (v) =>
    carry(
      toolAgent(() => ({ v }), { returnDirectly: true }),
      {},
      (events) => resultIn(events),
    ),
  'given to exit': (v) =>
    carry(
      toolAgent((ctx) => ctx.exit({ v })),
      {},
      (events) => resultIn(events),
    ),
  'yielded by a tool': (v) => {
    const execute = function* () {
      yield { v }
    }
    return carry(toolAgent(execute), {}, (events) => ofType(events, 'ACTIVITY_SNAPSHOT')[0]?.content.v)
  },
  'set as state by a tool': (v) =>
    carry(
      toolAgent((ctx) => ctx.setState({ v })),
      {},
      readState,
    ),
  'emitted by a tool': (v) =>
    carry(
      toolAgent((ctx) => ctx.emit(custom({ v }))),
      {},
      readCustom,
    ),
  'yielded by an agent': (v) => carry(byHand([custom({ v })]), {}, readCustom),
  'the result of an agent': (v) =>
    carry(byHand([], { type: 'done', result: { v } }), {}, (events) => resultIn(events)),
  'in a snapshot of an agent': (v) =>
    carry(byHand([{ type: 'STATE_SNAPSHOT', snapshot: { v } }]), {}, readState),
  'given by the hook `event`': (v) =>
    carry(
      byHand([custom(1)]),
      { event: (event) => (event.type === 'CUSTOM' ? custom({ v }) : event) },
      readCustom,
    ),
  'given by the hook `outputChange`': (v) =>
    carry(
      byHand([custom(1)]),
      { outputChange: (event) => (event.type === 'CUSTOM' ? { ...event, value: { v } } : event) },
      readCustom,
    ),
  'given by the hook `initialState`': (v) => carry(byHand([]), { initialState: () => ({ v }) }, readState),
  'in the state of the hook `inputChange`': (v) =>
    carry(byHand([]), { inputChange: (input) => ({ ...input, state: { v } }) }, readState),
  'given by the hook `stateSnapshot`': (v) => carry(byHand([]), { stateSnapshot: () => ({ v }) }, readState),
}

function resultIn(events: readonly AgUiEvent[]): unknown {
  const result: unknown = ofType(events, 'RUN_FINISHED')[0]?.result
  return Reflect.get(Object(result), 'v')
}

describe.each(Object.entries(ways))('a value %s', (_way, take) => {
  it.each(becoming)('becomes JSON by the rule: %s', async (_what, value, json) => {
    const carried = await take(value)
    expect(carried.json).toEqual(json)
    expect(carried.events.at(-1)?.type).toBe('RUN_FINISHED')
  })

  it.each(refused)('is refused with its path: %s', async (_what, value, problem) => {
    const { json, said } = await take(value)
    expect(json).toBeUndefined()
    const path = problem.startsWith('is ')
      ? `v ${problem}`
      : problem.startsWith('[')
        ? `v${problem}`
        : `v.${problem}`
    expect(said).toContain(path)
  })
})

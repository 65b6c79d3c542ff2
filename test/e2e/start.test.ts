import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { ofType } from '../support/run-agent.js'
import { post, postsIn, runStart, startDemo, talkTo, type CurlLine, type Started } from './support-start.js'

const folder = mkdtempSync(join(tmpdir(), 'millrace-start-'))
let demo: Started
beforeAll(async () => {
  demo = await startDemo({ folder })
  return async () => {
    await demo.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

const names = [
  'chat',
  'tools',
  'approval',
  'shared-state',
  'team',
  'planner',
  'deep',
  'adk',
  'graph',
  'mixed',
] as const
type Name = (typeof names)[number]

interface Listed {
  readonly agents: readonly {
    readonly name: string
    readonly description: string
    readonly examples: readonly string[]
  }[]
}

async function get(path: string): Promise<unknown> {
  return (await fetch(demo.url + path)).json()
}

const at = (agent: Name): string => `${demo.url}/agents/${agent}/run`

/** A line that is printed for an agent: the first asks, the second answers. */
function line(agent: Name, { index = 0, thread = 'demo' } = {}): CurlLine {
  const found = postsIn(demo.printed, agent)[index]
  if (!found) throw new Error(`Nothing is printed for ${agent}:\n${demo.printed}`)
  return { ...found, body: found.body.replace('"threadId":"demo"', `"threadId":"${thread}"`) }
}

function textOf(events: readonly AgUiEvent[]): string {
  return ofType(events, 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta)
    .join('')
}

/** The texts of all messages, in the order of their starts. */
function textsIn(events: readonly AgUiEvent[]): string[] {
  return ofType(events, 'TEXT_MESSAGE_START').map(({ messageId }) =>
    textOf(events.filter((event) => 'messageId' in event && event.messageId === messageId)),
  )
}

function startedIn(events: readonly AgUiEvent[]): string[] {
  return ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)
}

/** What the first example of each agent is there to show. */
const points: Readonly<Record<Name, (events: readonly AgUiEvent[]) => void>> = {
  chat(events) {
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(10)
    expect(textOf(events)).toMatch(/^Once a mill stood still/)
  },
  tools(events) {
    expect(ofType(events, 'TOOL_CALL_START')).toMatchObject([{ toolCallName: 'get_weather' }])
    expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(1)
    expect(textOf(events)).toBe('It is 7 °C and raining in Oslo.')
  },
  approval(events) {
    expect(ofType(events, 'TOOL_CALL_RESULT')).toEqual([])
    expect(events.at(-1)).toMatchObject({
      outcome: { type: 'interrupt', interrupts: [{ message: 'Book a table for 2 at Maaemo?' }] },
    })
  },
  'shared-state'(events) {
    const shoppingList = ['Milk', 'Bread', 'Eggs']
    expect(ofType(events, 'STATE_DELTA')).toMatchObject([
      { delta: [{ op: 'add', path: '/shoppingList', value: shoppingList }] },
    ])
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)).toMatchObject({ snapshot: { shoppingList } })
  },
  team(events) {
    expect(startedIn(events)).toEqual(['weather', 'hotels'])
    expect(ofType(events, 'TOOL_CALL_START').map(({ toolCallName }) => toolCallName)).toEqual([
      'transfer_to_agent',
      'get_weather',
      'transfer_to_agent',
      'find_rooms',
    ])
    // The last word is the leader's own, and nothing is said twice.
    expect(textsIn(events)).toEqual([
      'It is 7 °C and raining in Oslo.',
      'A room in the Grand Oslo costs 100 euros a night.',
      'That is all from weather and hotels. Anything else?',
    ])
  },
  planner(events) {
    const round = ['executor', 'replanner']
    expect(startedIn(events)).toEqual(['planner', ...round, ...round, ...round])
    const steps = ['tell me the weather in Oslo', 'the weather in Bergen', 'find a room in Bergen'].map(
      (text) => ({
        text,
        status: 'done',
        result: expect.stringMatching(/in Oslo|in Bergen|Grand Bergen/) as string,
      }),
    )
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)).toMatchObject({ snapshot: { plan: { steps } } })
    expect(ofType(events, 'STATE_DELTA').length).toBeGreaterThan(6)
    expect(textsIn(events)).toEqual([
      'It is 7 °C and raining in Oslo.',
      'It is 9 °C and sunny in Bergen.',
      'A room in the Grand Bergen costs 120 euros a night.',
      'That was the last of 3 steps: the plan is carried out.',
    ])
  },
  deep(events) {
    expect(startedIn(events)).toEqual(['researcher', 'researcher'])
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)).toMatchObject({
      snapshot: {
        todos: [{ status: 'completed' }, { status: 'completed' }],
        files: { 'comparison.md': expect.stringMatching(/^- Oslo: .*\n- Bergen: /) as string },
      },
    })
    expect(textsIn(events).at(-1)).toBe(
      'It is warmest in Bergen, with 9 °C, and coldest in Oslo, with 7 °C. What the researchers said is in comparison.md.',
    )
  },
  adk(events) {
    points.tools(events)
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)).toMatchObject({ snapshot: { lastCity: 'Oslo' } })
  },
  graph(events) {
    points.tools(events)
    expect(ofType(events, 'STEP_STARTED').map(({ stepName }) => stepName)).toEqual([
      'agent',
      'tools',
      'agent',
    ])
    expect(ofType(events, 'CUSTOM')).toMatchObject([{ name: 'show_weather', value: { city: 'Oslo' } }])
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)).toMatchObject({ snapshot: { lastCity: 'Oslo' } })
  },
  mixed(events) {
    expect(startedIn(events).sort()).toEqual(['dinner', 'rooms', 'sights', 'weather'])
    const calls = ofType(events, 'TOOL_CALL_START')
    expect(calls.map(({ toolCallName }) => toolCallName).sort()).toEqual([
      'find_museum',
      'find_restaurant',
      'find_rooms',
      'get_weather',
    ])
    expect(new Set(calls.map(({ subagentRunId }) => subagentRunId)).size).toBe(4)
    // Each runtime has a part of the answer, and says it once.
    expect(textsIn(events).sort()).toEqual([
      'A room in the Grand Oslo costs 100 euros a night.',
      'Dinner at the Old Mill in Oslo costs 34 euros.',
      'It is 7 °C and raining in Oslo.',
      'The museum of Oslo costs 10 euros.',
    ])
  },
}

test('each agent says what it is and what to ask it, and chat comes first', async () => {
  const { agents } = (await get('/agents')) as Listed
  expect(agents.map(({ name }) => name)).toEqual(names)
  for (const { description, examples } of agents) {
    expect(description).not.toBe('')
    expect(examples.length).toBeGreaterThan(1)
    expect(demo.printed).toContain(JSON.stringify(examples[0]))
  }
})

describe.each(names)('%s', (name) => {
  test('shows its point to the line that is printed for curl', async () => {
    points[name](await post(line(name)))
  })

  test('shows its point to the client of AG-UI', async () => {
    const { client, say, events } = talkTo(at(name), `client-${name}`)
    const { agents } = (await get('/agents')) as Listed
    await say(agents.find((agent) => agent.name === name)?.examples[0] ?? '')
    points[name](events)
    expect(client.pendingInterrupts).toHaveLength(name === 'approval' ? 1 : 0)
  })
})

test('the line that is printed for curl can be used again', async () => {
  points.tools(await post(line('tools', { thread: 'again' })))
  points.tools(await post(line('tools', { thread: 'again' })))
  expect(await get('/agents/tools/thread/list?limit=1')).toMatchObject({
    threads: [{ threadId: 'again', messageCount: 10 }],
  })
})

test('the state is kept from run to run, and the client has it', async () => {
  const { client, say } = talkTo(at('shared-state'), 'shopping')
  await say('Add Milk, Bread and Eggs to my shopping list.')
  await say('Remove Bread from my shopping list.')
  const snapshot = { shoppingList: ['Milk', 'Eggs'] }
  expect(client.state).toEqual(snapshot)
  expect(await get('/agents/shared-state/state_snapshot/shopping')).toMatchObject({ snapshot })
})

test.each([
  [true, 'The table is booked.'],
  [false, 'Nothing is booked: it was not approved.'],
])('the client of AG-UI answers the question with approved: %s', async (approved, expected) => {
  const { client, say, go } = talkTo(at('approval'), `table-${approved}`)
  await say('Reserve a table for five at Noma.')
  const [question] = client.pendingInterrupts
  expect(question?.message).toBe('Book a table for 5 at Noma?')
  await go({ resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: { approved } }] })
  expect(client.pendingInterrupts).toEqual([])
  expect(client.messages.find(({ role }) => role === 'tool')).toMatchObject({ content: expected })
})

test('a question and its thread outlive the process, and the printed line answers it', async () => {
  const thread = 'outlives'
  const end = (await post(line('approval', { thread }))).at(-1)
  const questions =
    end?.type === 'RUN_FINISHED' && end.outcome?.type === 'interrupt' && end.outcome.interrupts
  expect(questions).toHaveLength(1)

  expect(await demo.stop()).toBe(0)
  demo = await startDemo({ folder })
  expect(await get('/agents/approval/thread/list?limit=1')).toMatchObject({
    threads: [{ threadId: thread, title: 'Book a table for 2 at Maaemo.', status: 'interrupted' }],
  })
  const { url, body } = line('approval', { index: 1, thread })
  const [{ id } = { id: '' }] = questions || []
  const events = await post({ url, body: body.replace('INTERRUPT_ID', id) })
  expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: 'The table is booked.' }])
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
})

test.each(['adk', 'graph'] as const)('%s uses a tool of the client', async (name) => {
  const { client, say, go, events } = talkTo(at(name), `${name}-colour`)
  const parameters = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] }
  const tools = [{ name: 'change_background', description: 'Changes the background colour.', parameters }]
  client.addMessage({ id: 'said', role: 'user', content: 'Change the background to "blue".' })
  await go({ tools })
  const [{ toolCallId, toolCallName } = { toolCallId: '', toolCallName: '' }] = ofType(
    events,
    'TOOL_CALL_START',
  )
  expect(toolCallName).toBe('change_background')
  expect(ofType(events, 'TOOL_CALL_RESULT')).toEqual([])
  client.addMessage({ id: 'done', role: 'tool', toolCallId, content: 'The page is blue now.' })
  await go({ tools })
  expect(textOf(events)).toContain('The page is blue now.')
  await say('Thanks!')
  expect(textOf(events)).toMatch(/welcome/)
})

describe('agents made of others', () => {
  test('mixed asks from two runtimes at once, and goes on in another process', async () => {
    const { client, say } = talkTo(at('mixed'), 'mixed-table')
    await say('Book a table for 2 at Maaemo and a tour of the museum in Oslo. What does a room cost?')
    const questions = client.pendingInterrupts
    expect(questions.map(({ message }) => message).sort()).toEqual([
      'Book a table for 2 at Maaemo?',
      'May the tool "book_tour" be called with city "Oslo"?',
    ])

    expect(await demo.stop()).toBe(0)
    demo = await startDemo({ folder })
    const after = talkTo(at('mixed'), 'mixed-table')
    const resume = questions.map(({ id }) => ({
      interruptId: id,
      status: 'resolved' as const,
      payload: { approved: true, confirmed: true },
    }))
    await after.go({ resume })
    expect(after.client.pendingInterrupts).toEqual([])
    const results = ofType(after.events, 'TOOL_CALL_RESULT').map(({ content }) => JSON.stringify(content))
    expect(results.filter((result) => result.includes('is booked'))).toHaveLength(2)
  })

  test.each([
    ['team', 'Book a room in Oslo for 2.', 'Book a room for 2 in Oslo?'],
    ['planner', 'First find a room in Rome, then book a room in Rome for 2.', 'Book a room for 2 in Rome?'],
  ] as const)('%s asks from within, and goes on in another process', async (name, prompt, message) => {
    const { client, say } = talkTo(at(name), `${name}-room`)
    await say(prompt)
    const [question] = client.pendingInterrupts
    expect(question).toMatchObject({ message, subagentRunId: expect.stringMatching(/^sub-/) as string })

    expect(await demo.stop()).toBe(0)
    demo = await startDemo({ folder })
    const later = talkTo(at(name), `${name}-room`)
    const payload = { approved: true }
    await later.go({ resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload }] })
    expect(textsIn(later.events).filter((text) => text === 'The room is booked.')).toHaveLength(1)
    expect(later.events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  })

  test('deep answers as the demo model does when there is nothing to compare', async () => {
    const { say, events } = talkTo(at('deep'), 'deep-talk')
    await say('Thanks!')
    expect(textOf(events)).toMatch(/welcome/)
  })
})

describe('the agent of ADK', () => {
  test('asks before it books, and goes on in another process', async () => {
    const { client, say } = talkTo(at('adk'), 'adk-table')
    await say('Book a table for 2 at Maaemo.')
    const [question] = client.pendingInterrupts
    expect(question).toMatchObject({ reason: 'confirmation', metadata: { toolName: 'book_table' } })

    expect(await demo.stop()).toBe(0)
    demo = await startDemo({ folder })
    const later = talkTo(at('adk'), 'adk-table')
    const resume = [
      { interruptId: question?.id ?? '', status: 'resolved' as const, payload: { confirmed: true } },
    ]
    await later.go({ resume })
    expect(textOf(later.events)).toContain('A table for 2 at Maaemo is booked.')
  })
})

describe('the agent of LangGraph', () => {
  test('asks before it books, and goes on in another process', async () => {
    const { client, say } = talkTo(at('graph'), 'graph-table')
    await say('Book a table for 2 at Maaemo.')
    const [question] = client.pendingInterrupts
    expect(question).toMatchObject({ reason: 'confirmation', message: 'Book a table for 2 at Maaemo?' })

    expect(await demo.stop()).toBe(0)
    demo = await startDemo({ folder })
    const later = talkTo(at('graph'), 'graph-table')
    const resume = [
      { interruptId: question?.id ?? '', status: 'resolved' as const, payload: { approved: true } },
    ]
    await later.go({ resume })
    expect(ofType(later.events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: 'The table is booked.' }])
    expect(textOf(later.events)).toContain('The table is booked.')
  })
})

test.each([
  ['adk', '@google/adk'],
  ['graph', '@langchain/'],
])('the agent %s is left out with a word when %s is not installed', async (missing, prefix) => {
  const hide = `export const resolve = (name, context, next) => {
    if (name.startsWith('${prefix}')) throw new Error('not installed')
    return next(name, context)
  }`
  const hooks = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hide))})`
  const env = { NODE_OPTIONS: `--import=${dataUrl(hooks)}` }
  const other = await startDemo({ folder: join(folder, `without-${missing}`), env })
  expect(other.printed).toContain(`Run: npm install ${prefix}`)
  const { agents } = (await (await fetch(`${other.url}/agents`)).json()) as Listed
  expect(agents.map(({ name }) => name)).toEqual(names.filter((name) => name !== missing))
  expect(await other.stop()).toBe(0)
})

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`
}

interface Part {
  readonly name: string
  readonly kind: string
  readonly tools: readonly { readonly name: string; readonly description: string }[]
  readonly agents: readonly Part[]
  readonly edges?: readonly { readonly from: string; readonly to: string }[]
}

test('heavy runtimes are loaded at first use, and look the same before and after', async () => {
  const other = await startDemo({ folder: join(folder, 'fresh') })
  const parts = async (): Promise<Record<string, unknown>> => {
    const { agents } = (await (await fetch(`${other.url}/console/api/session`)).json()) as {
      readonly agents: readonly Part[]
    }
    const toShape = ({ name, kind, tools, agents: inner, edges = [] }: Part): object => ({
      ...{ name, kind, agents: inner.map(toShape) },
      tools: tools.map((tool) => [tool.name, tool.description]),
      edges: edges.map(({ from, to }) => `${from} > ${to}`).sort(),
    })
    return Object.fromEntries(agents.map((agent) => [agent.name, toShape(agent)]))
  }
  const before = await parts()
  expect(before.graph).toMatchObject({ kind: 'graph', agents: [{ name: 'agent' }, { name: 'tools' }] })
  for (const name of ['adk', 'graph', 'mixed'] as const)
    await talkTo(`${other.url}/agents/${name}/run`, `shape-${name}`).say('What is the weather in Oslo?')
  expect(await parts()).toEqual(before)
  expect(await other.stop()).toBe(0)
})

test('without --curl it names one address first, and three things to try', async () => {
  const { code, output } = await runStart({
    folder: join(folder, 'plain'),
    args: ['--port', '0'],
    stopAt: '--help',
  })
  expect(code).toBe(0)
  const [address = '', ...rest] = output.trim().split('\n')
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(rest.slice(1, 4).map((text) => text.trim().split(/ {2,}/)[0])).toEqual([
    'Talk',
    'Approve',
    'Look inside',
  ])
  expect(output).not.toContain('curl -N')
})

test('it can be watched', async () => {
  expect(await get('/healthz')).toEqual({ status: 'ok' })
  expect(await get('/readyz')).toEqual({ status: 'ready' })
  expect(await (await fetch(`${demo.url}/metrics`)).text()).toContain('millrace_')
})

describe('for others', () => {
  const authorize = (token: string) => ({ authorization: `Bearer ${token}` })

  test('it takes only those who have the token, whatever the host is called', async () => {
    const args = [
      '--host',
      '0.0.0.0',
      '--cors',
      'http://a.example, http://b.example',
      '--cors',
      'http://c.example',
    ]
    const open = await startDemo({ folder: join(folder, 'for-others'), args })
    const [, token = ''] = /authorization: Bearer ([0-9a-f]{32})$/m.exec(open.printed) ?? []
    expect(open.printed).toContain('Whoever has the token')
    expect((await fetch(`${open.url}/agents`)).status).toBe(401)
    expect((await fetch(`${open.url}/agents`, { headers: authorize('x'.repeat(32)) })).status).toBe(401)
    for (const origin of ['http://a.example', 'http://b.example', 'http://c.example']) {
      const response = await fetch(`${open.url}/agents`, { headers: { ...authorize(token), origin } })
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin])
    }
    const { client, say } = talkTo(`${open.url}/agents/tools/run`, 'others', authorize(token))
    await say('What is the weather in Oslo?')
    expect(client.messages.at(-1)).toMatchObject({ content: 'It is 7 °C and raining in Oslo.' })
    // The page is there for all, and what it shows is not.
    expect((await fetch(`${open.url}/console/`)).status).toBe(200)
    expect((await fetch(`${open.url}/console/api/session`)).status).toBe(401)
    expect(await open.stop()).toBe(0)
  })

  test('it takes the token of the environment, also on this machine', async () => {
    const env = { MILLRACE_TOKEN: 'secret' }
    const open = await startDemo({ folder: join(folder, 'with-token'), env, args: ['--cors', '*'] })
    expect((await fetch(`${open.url}/agents`)).status).toBe(401)
    const response = await fetch(`${open.url}/agents`, {
      headers: { ...authorize('secret'), origin: 'http://x.example' },
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(open.printed).toMatch(/Any page.*--cors \*/)
    expect(await open.stop()).toBe(0)
  })
})

describe('the command', () => {
  test('tells how it is used', async () => {
    const { code, output } = await runStart({ folder, args: ['--help'] })
    expect(code).toBe(0)
    expect(output).toMatch(/--port[\s\S]*PORT[\s\S]*MILLRACE_DIR/)
  })

  test('takes the port of the environment, and says when it is in use', async () => {
    const { port } = new URL(demo.url)
    const { code, output } = await runStart({ folder, env: { PORT: port } })
    expect(code).toBe(1)
    expect(output).toContain(`Cannot start: Port ${port} of 127.0.0.1 is in use.`)
    expect(output).not.toContain('    at ')
  })

  test('says in one line when its folder cannot be used', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, '')
    const { code, output } = await runStart({ folder: join(file, 'below'), args: ['--port', '0'] })
    expect(code).toBe(1)
    expect(output.trim().split('\n').at(-1)).toMatch(
      /^Cannot start: The SQLite store cannot be used: .*a-file/,
    )
  })

  test.each([
    [['--port', 'x']],
    [['--port', '65536']],
    [['--prot', '1']],
    [['4112']],
    [['--cors', 'a.example']],
  ])('refuses %j in one line', async (args) => {
    const { code, output } = await runStart({ folder, args })
    expect(code).toBe(1)
    expect(output).toMatch(/^Cannot start: .*\(npm start -- --help\)\n$/)
  })
})

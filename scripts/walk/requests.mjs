import { Session } from 'node:inspector/promises'
import { FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { AIMessageChunk } from '@langchain/core/messages'
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { BaseLlm, LlmAgent } from '@google/adk'
import { defineAgent, defineTool } from 'millrace'
import { fromAdk } from 'millrace/adk'
import { fromLangGraph } from 'millrace/langgraph'
import { scriptedModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'

const deltas = 400
const answer = 'abc '.repeat(deltas)
const build = new URL('../../dist/', import.meta.url).href

/** The files and functions that warm requests pass, over HTTP, with SQLite. */
export async function measureRequests() {
  const server = createServer({
    agents: createAgents(),
    store: await createSqliteStore({ path: ':memory:' }),
    log: onlyErrors,
  })
  const serving = await serve(server, { port: 0 })
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  const send = (agent, threadId, rest = {}) => postRun(serving.url, agent, { threadId, ...rest })
  for (const agent of ['chat', 'tools', 'graph', 'adk']) await send(agent, `warm-${agent}`)
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

  const measured = []
  const measure = async (label, request) => {
    await session.post('Profiler.takePreciseCoverage')
    const stream = await request()
    if (!stream.includes('RUN_FINISHED')) throw new Error(`${label} did not finish: ${stream.slice(0, 500)}`)
    // What a run does after its last event has left belongs to it too.
    await new Promise((done) => setTimeout(done, 250))
    const { result } = await session.post('Profiler.takePreciseCoverage')
    measured.push({ label, ...countFunctions(result, stream.split('TEXT_MESSAGE_CONTENT').length - 1) })
    return stream
  }
  await measure('chat', () => send('chat', 't1'))
  await measure('tool call', () => send('tools', 't2'))
  const interrupted = await measure('interrupt', () => send('approval', 't3'))
  const interruptId = /"id":"(int-[^"]+)"/.exec(interrupted)?.[1]
  const resume = [{ interruptId, status: 'resolved', payload: true }]
  await measure('resume', () => send('approval', 't3', { runId: 'r2', resume }))
  await measure('langgraph', () => send('graph', 't4'))
  await measure('adk', () => send('adk', 't5'))
  return measured
}

/** A function that ran nearly as often as there were deltas is on the path of a delta. */
function countFunctions(scripts, deltaCount) {
  const files = new Set()
  const deltaPath = new Map()
  let functions = 0
  for (const { url, functions: found } of scripts) {
    if (!url.startsWith(build)) continue
    const file = url.slice(build.length, -'.js'.length)
    for (const { functionName, ranges } of found) {
      const count = ranges[0]?.count ?? 0
      if (functionName === '' || count === 0) continue
      files.add(file)
      functions++
      if (deltaCount >= deltas / 2 && count >= deltaCount * 0.9)
        deltaPath.set(file, [...(deltaPath.get(file) ?? []), functionName])
    }
  }
  const onDelta = deltaPath.size > 0
  const deltaFunctions = [...deltaPath.values()].reduce((sum, names) => sum + names.length, 0)
  return {
    figures: {
      files: files.size,
      functions,
      'files a delta': onDelta ? deltaPath.size : '',
      'functions a delta': onDelta ? deltaFunctions : '',
    },
    files: [...files].sort(),
    deltaPath,
  }
}

async function postRun(url, agent, { threadId, runId = 'r1', ...rest }) {
  const response = await fetch(`${url}/agents/${agent}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({
      threadId,
      runId,
      protocolVersion: '1.0',
      messages: [{ id: 'u1', role: 'user', content: 'hi' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
      ...rest,
    }),
  })
  return response.text()
}

function createAgents() {
  const weather = defineTool({ name: 'weather', description: 'Tells the weather.', execute: () => 'rain' })
  const approve = defineTool({
    name: 'approve',
    description: 'Asks a person.',
    execute: async (_, ctx) => (await ctx.interrupt({ message: 'ok?' })).status,
  })
  const callThenAnswer = (name) =>
    Array.from({ length: 50 }, (_, i) => (i % 2 ? 'Rain.' : [{ toolCall: { id: `c${i}`, name, args: {} } }]))
  const answers = Array.from({ length: 9 }, () => answer)
  return [
    defineAgent({ name: 'chat', model: scriptedModel(answers, { chunkSize: 4 }) }),
    defineAgent({ name: 'tools', tools: [weather], model: scriptedModel(callThenAnswer('weather')) }),
    defineAgent({ name: 'approval', tools: [approve], model: scriptedModel(callThenAnswer('approve')) }),
    fromLangGraph(createGraph(), { name: 'graph' }),
    fromAdk(new LlmAgent({ name: 'adk', model: new StreamingLlm(), instruction: 'Answer.' })),
  ]
}

function createGraph() {
  const chunks = Array.from({ length: deltas }, () => new AIMessageChunk({ content: 'abc ', id: 'm1' }))
  const model = new FakeStreamingChatModel({ chunks })
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'agent')
    .compile({ checkpointer: new MemorySaver() })
}

class StreamingLlm extends BaseLlm {
  constructor() {
    super({ model: 'streaming' })
  }

  async *generateContentAsync() {
    for (let i = 0; i < deltas; i++)
      yield { content: { role: 'model', parts: [{ text: 'abc ' }] }, partial: true }
    yield { content: { role: 'model', parts: [{ text: answer }] }, partial: false, finishReason: 'STOP' }
  }

  connect() {
    throw new Error('This model has no live connection.')
  }
}

const onlyErrors = { debug() {}, info() {}, warn() {}, error: console.error }

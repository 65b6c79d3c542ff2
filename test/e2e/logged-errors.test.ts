import { FunctionTool, getLogger, LlmAgent, setLogger } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { AIMessage } from '@langchain/core/messages'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { fromAiSdk, scriptedModel } from '../../src/models/index.js'
import type { Logger, ServerOptions } from '../../src/server/index.js'
import { createDefaultLogger } from '../../src/server/observe/default-logger.js'
import { assertValidStream } from '../../src/testing/index.js'
import { callsTool, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { recordSpans } from '../support/record-spans.js'
import { toolsOf } from './support-mcp-servers.js'
import { openStream } from './support-stream.js'
import { fakeLanguageModel } from './support-models-fake.js'
import { secret, secretErrors } from './support-secret-errors.js'
import { inputOf, serving, user } from './support-server.js'

type Thrown = () => never

/** An agent, and options of its server, that come to `fail`. */
type Way = (fail: Thrown) => Pick<ServerOptions, 'agents'> & Partial<ServerOptions>

const talker = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })

function own(run: Agent['run']): Agent {
  return { name: 'own', description: '', run }
}

const ways: readonly (readonly [string, Way])[] = [
  [
    'an agent',
    (fail) => ({
      agents: [
        own(async function* () {
          yield { type: 'STEP_STARTED', stepName: 'work' }
          return await Promise.resolve().then(fail)
        }),
      ],
    }),
  ],
  [
    'a model',
    (fail) => ({ agents: [defineAgent({ name: 'kit', model: fromAiSdk(fakeLanguageModel(() => fail())) })] }),
  ],
  [
    'a tool of the kit',
    (fail) => ({
      agents: [
        defineAgent({
          name: 'kit',
          model: scriptedModel(({ messages }) =>
            messages.at(-1)?.role === 'tool' ? 'Done.' : [{ toolCall: { name: 'work', args: {} } }],
          ),
          tools: [defineTool({ name: 'work', description: 'Works.', input: z.object({}), execute: fail })],
        }),
      ],
    }),
  ],
  [
    "ADK's model",
    (fail) => ({
      agents: [
        fromAdk(
          new LlmAgent({
            name: 'adk',
            model: forEach(async function* () {
              yield await Promise.resolve().then(fail)
            }),
          }),
        ),
      ],
    }),
  ],
  [
    "ADK's tool",
    (fail) => ({
      agents: [
        fromAdk(
          new LlmAgent({
            name: 'adk',
            model: forEach(callsTool({ name: 'work' })),
            tools: [
              new FunctionTool({
                name: 'work',
                description: 'Works.',
                parameters: z.object({}),
                execute: fail,
              }),
            ],
          }),
        ),
      ],
    }),
  ],
  [
    'a node of LangGraph',
    (fail) => ({
      agents: [
        fromLangGraph(
          new StateGraph(MessagesAnnotation)
            .addNode('work', () => fail())
            .addEdge(START, 'work')
            .compile(),
          { name: 'graph' },
        ),
      ],
    }),
  ],
  ["LangGraph's tool", (fail) => ({ agents: [fromLangGraph(graphWithTool(fail), { name: 'graph' })] })],
  ['a hook on requests', (fail) => ({ agents: [talker], hooks: { inputRecord: fail } })],
  ['a hook on events', (fail) => ({ agents: [talker], hooks: { event: fail } })],
  ['a hook on output', (fail) => ({ agents: [talker], hooks: { outputRecord: fail } })],
  ['identify', (fail) => ({ agents: [talker], identify: fail })],
]

/** Answers in the same way in each run. */
function forEach(step: LlmStep): ScriptedLlm {
  return new ScriptedLlm(secretErrors.map(() => step))
}

function graphWithTool(fail: Thrown) {
  const work = tool(() => fail(), { name: 'work', description: 'Works.', schema: z.object({}) })
  const call = new AIMessage({ content: '', tool_calls: [{ id: 'call-1', name: 'work', args: {} }] })
  return new StateGraph(MessagesAnnotation)
    .addNode('model', () => ({ messages: [call] }))
    .addNode('tools', new ToolNode([work], { handleToolErrors: false }))
    .addEdge(START, 'model')
    .addEdge('model', 'tools')
    .compile()
}

/** All that is written: by a logger of the application, by pino, to the console and to the streams of the process. */
function recordLines(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = []
  const pino = createDefaultLogger({ destination: { write: (line) => void lines.push(line) } })
  const level = (name: keyof Logger) => (facts: object, message: string) => {
    lines.push(inspect(facts, { depth: Infinity, showHidden: true, getters: true }), message)
    pino[name](facts, message)
  }
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, name).mockImplementation((...parts) => {
      lines.push(inspect(parts, { depth: Infinity, showHidden: true }))
    })
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  onTestFinished(() => void vi.restoreAllMocks())
  return {
    lines,
    log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
  }
}

/** Runs to the end, and lints. A refusal before the stream is fine too. */
async function runOnce(url: string, n: number): Promise<void> {
  const body = inputOf({ threadId: `thread-${n}`, messages: [user('u1', 'Hello.')] })
  const stream = await openStream(`${url}/run`, { body })
  await stream.whole()
  if (stream.status === 500) return
  expect(stream.status).toBe(200)
  assertValidStream(stream.events, { input: body })
}

beforeEach(() => {
  // What docs/guides/adk.md says about ADK's own spans and logs.
  vi.stubEnv('ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS', 'false')
  const logger = getLogger()
  setLogger(null)
  return () => {
    vi.unstubAllEnvs()
    setLogger(logger)
  }
})

describe.each(ways)('when %s throws', (_, way) => {
  it('no line of a log and no span holds what the error quotes, whatever it is', async () => {
    const spans = recordSpans()
    onTestFinished(() => spans.stop())
    const { log, lines } = recordLines()
    let current: unknown
    const options = way(() => {
      throw current
    })
    const { url } = await serving({ ...options, log })
    for (const [n, [what, error]] of secretErrors.entries()) {
      current = error
      const before = lines.length
      await runOnce(url, n)
      const written = lines.slice(before).join('\n')
      expect(lines.length, what).toBeGreaterThan(before)
      for (const part of ['sk-4711', 'Example']) expect(written, what).not.toContain(part)
    }
    const seen = spans.all.map(({ name, attributes, status, events }) => ({
      name,
      attributes,
      status,
      events,
    }))
    expect(JSON.stringify(seen)).not.toContain('sk-4711')
  })
})

describe('what operators get in its place', () => {
  const refused = Object.assign(new Error(`400 ${secret}`), { name: 'AI_APICallError', statusCode: 400 })

  async function failWith(error: unknown, options: Partial<ServerOptions> = {}) {
    const logged: { readonly facts: object; readonly message: string }[] = []
    const write = (facts: object, message: string): void => void logged.push({ facts, message })
    const model = fromAiSdk(
      fakeLanguageModel(() => {
        throw error
      }),
    )
    const { url } = await serving({
      agents: [defineAgent({ name: 'kit', model })],
      log: { debug: write, info: write, warn: write, error: write },
      ...options,
    })
    await runOnce(url, 1)
    const line = logged.find(({ message }) => message === 'a run has failed')
    return (line?.facts as { readonly err: unknown }).err
  }

  it('is the name, code and status, our own message, and the frames of the stack, of the error and its causes', async () => {
    expect(await failWith(refused)).toEqual({
      name: 'MillraceError',
      code: 'MODEL_ERROR',
      status: 502,
      message: 'fake fake-1 (HTTP 400)',
      details: { status: 400, retryable: false },
      stack: expect.stringMatching(/^ {4}at modelError .*model-error/) as string,
      cause: {
        name: 'AI_APICallError',
        status: 400,
        stack: expect.stringMatching(/^ {4}at .*logged-errors\.test/) as string,
      },
    })
  })

  it("is the whole error with `logErrors: 'full'`", async () => {
    expect(await failWith(refused, { logErrors: 'full' })).toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining(secret) as string,
      cause: refused,
    })
  })

  it('is what there is of an error that cannot be read', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(await failWith(proxy)).toMatchObject({ code: 'MODEL_ERROR', cause: { name: 'TypeError' } })
  })
})

it('what an MCP server says of a failure is not logged', async () => {
  const { log, lines } = recordLines()
  const mcp = createServer((_, response) => response.writeHead(500).end(`no ${secret}`)).listen(
    0,
    '127.0.0.1',
  )
  onTestFinished(() => void mcp.close())
  await once(mcp, 'listening')
  const { port } = mcp.address() as AddressInfo
  const source = toolsOf({ url: `http://127.0.0.1:${port}/mcp` })
  const model = scriptedModel(() => 'Fine.')
  const { url } = await serving({ agents: [defineAgent({ name: 'kit', model, tools: [source] })], log })
  await runOnce(url, 1)
  const written = lines.join('\n')
  expect(written).toContain('TOOL_ERROR')
  expect(written).not.toContain('sk-4711')
})

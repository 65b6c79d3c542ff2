import { FunctionTool, LlmAgent } from '@google/adk'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { a2uiTool, withA2ui, type A2uiOptions } from '../../src/a2ui/index.js'
import { a2uiTool as adkA2uiTool, fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { a2uiTool as graphA2uiTool, fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from './adk/scripted-llm.js'
import { callChunks, FakeModel, type ModelStep } from './langgraph/fake-model.js'
import { agentModel } from './langgraph/serve-graph.js'

/** An answer of a model: a text, or the call of a tool. */
type A2uiStep = string | { readonly call: string; readonly args?: Record<string, unknown> }

export interface A2uiScript {
  /** The answers of the agent's model. */
  readonly main: readonly A2uiStep[]
  /** The answers of the model that writes surfaces: arguments of `render_a2ui`, or a text. An Error is thrown. */
  readonly writer?: readonly (Record<string, unknown> | string | Error)[]
  readonly options?: A2uiOptions
  /** Called when the model is to write a surface, which waits for it. */
  readonly onWrite?: (signal: AbortSignal | undefined) => Promise<void>
  /** What the agent's tool `show` returns. */
  readonly show?: () => unknown
}

export interface A2uiAgent {
  readonly agent: Agent
  /** Each request to the agent's model, and to the one that writes, as one text. */
  readonly mainPrompts: () => readonly string[]
  readonly writerPrompts: () => readonly string[]
}

const show = { name: 'show', description: 'Shows a surface.' }
const render = 'render_a2ui'

export function kitA2ui({
  main,
  writer = [],
  options,
  onWrite,
  show: execute = () => 'nothing',
}: A2uiScript): A2uiAgent {
  const model = scriptedModel(
    main.map((step) =>
      typeof step === 'string' ? step : [{ toolCall: { name: step.call, args: step.args ?? {} } }],
    ),
  )
  const writing = scriptedModel(
    writer.map((step) => {
      if (step instanceof Error) return [{ error: step }]
      const call = { toolCall: { name: render, args: step as Record<string, unknown> } }
      if (onWrite) return [{ wait: onWrite }, call]
      return typeof step === 'string' ? step : [call]
    }),
    { chunkSize: 50 },
  )
  const tools = [a2uiTool({ model: writing, ...options }), defineTool({ ...show, execute })]
  return {
    agent: withA2ui(defineAgent({ name: 'kit', model, tools })),
    mainPrompts: () => model.requests.map(toText),
    writerPrompts: () => writing.requests.map(toText),
  }
}

function adkA2ui({
  main,
  writer = [],
  options,
  onWrite,
  show: execute = () => 'nothing',
}: A2uiScript): A2uiAgent {
  const model = new ScriptedLlm(
    main.map((step) =>
      typeof step === 'string' ? says(step) : callsTool({ name: step.call, args: step.args ?? {} }),
    ),
  )
  const writing = new ScriptedLlm(
    writer.map((step): LlmStep => {
      if (step instanceof Error) return [step]
      const answer = typeof step === 'string' ? says(step) : callsTool({ name: render, args: step })
      if (!onWrite) return answer
      return async function* (_request, signal) {
        await onWrite(signal)
        yield* answer
      }
    }),
  )
  const tools = [
    adkA2uiTool({ model: writing, ...options }),
    new FunctionTool({ ...show, parameters: z.object({}), execute }),
  ]
  const toRequestText = ({ contents, config }: (typeof writing.requests)[number]): string =>
    toText({ contents, instructions: config?.systemInstruction })
  return {
    agent: withA2ui(fromAdk(new LlmAgent({ name: 'adk', model, tools }))),
    mainPrompts: () => model.requests.map(toRequestText),
    writerPrompts: () => writing.requests.map(toRequestText),
  }
}

function graphA2ui({
  main,
  writer = [],
  options,
  onWrite,
  show: execute = () => 'nothing',
}: A2uiScript): A2uiAgent {
  let calls = 0
  const model = agentModel(
    main.map((step): ModelStep =>
      typeof step === 'string' ? [step] : callChunks(`g${++calls}`, step.call, step.args ?? {}),
    ),
  )
  const writing = new FakeModel(
    writer.map((step): ModelStep => {
      if (step instanceof Error || typeof step === 'string') return [step]
      return callChunks(`w${++calls}`, render, step)
    }),
    onWrite && (() => onWrite(undefined)),
  )
  const asText = (): string => {
    const value = execute()
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  const tools = [
    graphA2uiTool({ model: writing, ...options }),
    tool(asText, { ...show, schema: z.object({}) }),
  ]
  const { graph } = createAgent({ model, tools, checkpointer: new MemorySaver() })
  return {
    agent: withA2ui(fromLangGraph(graph, { name: 'graph' })),
    mainPrompts: () => model.calls.map(toText),
    writerPrompts: () => writing.calls.map(toText),
  }
}

function toText(request: unknown): string {
  return JSON.stringify(request, (key, value: unknown) => (key === 'signal' ? undefined : value))
}

export const a2uiRuntimes = [
  ['the kit', kitA2ui],
  ['ADK', adkA2ui],
  ['LangGraph', graphA2ui],
] as const

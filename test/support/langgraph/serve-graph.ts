import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Interrupt, Message, Tool as ToolInfo } from '@ag-ui/core'
import type { BaseMessage } from '@langchain/core/messages'
import { MemorySaver, type BaseCheckpointSaver } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { onTestFinished } from 'vitest'
import type { Agent, AgentMemory } from '../../../src/agents/index.js'
import type { AgUiEvent } from '../../../src/protocol/index.js'
import { ofType } from '../run-agent.js'
import { FakeModel, type ModelStep } from './fake-model.js'
import { serveAgents, type ServeAgentsOptions, type ServedAgents } from '../serve-agents.js'

export interface ServeGraphOptions extends Omit<ServeAgentsOptions, 'agents'> {
  /** Makes the agents: once at first, and again for every restart, as a new process would. */
  readonly make: (checkpointer: BaseCheckpointSaver) => Agent | readonly Agent[]
  /** The checkpointer; a function opens it in each process. Default: in memory, gone after a restart. */
  readonly checkpoints?: 'memory' | 'sqlite' | (() => BaseCheckpointSaver)
}

/** Serves graphs. A restart makes them anew: everything in memory is gone. */
export async function serveGraph(options: ServeGraphOptions): Promise<ServedAgents> {
  const { make, checkpoints = 'memory', ...rest } = options
  const saver = typeof checkpoints === 'function' ? checkpoints : saverIn(checkpoints)
  const made = (): readonly Agent[] => [make(saver())].flat()
  const first = made()
  let current = first
  const [agent, ...more] = first.map((one, index) => following(one, () => current[index] ?? one))
  if (!agent) throw new Error('There is nothing to serve.')
  const agents = [agent, ...more] as const
  const renewing = (one: ServedAgents): ServedAgents => ({
    ...one,
    async restart() {
      current = made()
      return renewing(rest.store === 'sqlite' ? await one.restart() : await serveAgents({ ...rest, agents }))
    },
  })
  return renewing(await serveAgents({ ...rest, agents }))
}

function saverIn(place: 'memory' | 'sqlite'): () => BaseCheckpointSaver {
  if (place === 'memory') return () => new MemorySaver()
  const path = temporaryFile()
  return () => openSaver(path)
}

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-checkpoints-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'checkpoints.db')
}

function openSaver(path: string): SqliteSaver {
  const saver = SqliteSaver.fromConnString(path)
  onTestFinished(() => void saver.db.close())
  return saver
}

/** Stands for an agent that restarts make anew. */
function following(agent: Agent, now: () => Agent): Agent {
  const memoryOf = (): AgentMemory => {
    const { memory } = now()
    if (!memory) throw new Error(`${agent.name} has no memory.`)
    return memory
  }
  const memory = agent.memory && {
    read: (...args: Parameters<AgentMemory['read']>) => memoryOf().read(...args),
    writeState: (...args: Parameters<AgentMemory['writeState']>) => memoryOf().writeState(...args),
    forget: (...args: Parameters<AgentMemory['forget']>) => memoryOf().forget(...args),
  }
  return { ...agent, run: (ctx) => now().run(ctx), ...(memory && { memory }) }
}

/** A model for `createAgent`, which refuses those that have a list of tools. */
export function agentModel(steps: readonly ModelStep[]): FakeModel {
  return Object.defineProperty(new FakeModel(steps), 'tools', { value: { push: () => 0 } })
}

/** The prompt of a model, as `type: text`, and `type: name(arguments)` for calls. */
export function promptText(messages: readonly BaseMessage[] | undefined): string[] {
  return (messages ?? []).map((message) => {
    const calls = (message as { tool_calls?: { name: string; args: unknown }[] }).tool_calls ?? []
    const made = calls.map(({ name, args }) => `${name}(${JSON.stringify(args)})`)
    return [`${message.type}:`, ...(message.text ? [message.text] : []), ...made].join(' ')
  })
}

/** A client tool that takes anything. */
export function clientTool(name: string): ToolInfo {
  return { name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } }
}

/** The text of all messages of a run. */
export function textIn(events: readonly AgUiEvent[]): string {
  return ofType(events, 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta)
    .join('')
}

/** The text of each message of a run. */
export function textsIn(events: readonly AgUiEvent[]): string[] {
  const texts = new Map<string, string>()
  for (const { messageId, delta } of ofType(events, 'TEXT_MESSAGE_CONTENT'))
    texts.set(messageId, (texts.get(messageId) ?? '') + delta)
  return [...texts.values()]
}

/** The names of the steps in order. */
export function stepsIn(events: readonly AgUiEvent[]): string[] {
  return ofType(events, 'STEP_STARTED').map(({ stepName }) => stepName)
}

/** The interrupts that a run ended with. */
export function interruptsIn(events: readonly AgUiEvent[]): readonly Interrupt[] {
  const last = events.at(-1)
  const outcome = last?.type === 'RUN_FINISHED' ? last.outcome : undefined
  if (outcome?.type !== 'interrupt') throw new Error(`The run was not interrupted: ${JSON.stringify(last)}`)
  return outcome.interrupts
}

/** The open interrupts of a thread, as the server has them. Clients before 1.0 may get the value of a graph alone. */
export async function openInterrupts(
  { url }: ServedAgents,
  thread = 'thread-1',
): Promise<readonly Interrupt[]> {
  const response = await fetch(`${url}/message_snapshot/${thread}`)
  return ((await response.json()) as { readonly interrupts: readonly Interrupt[] }).interrupts
}

/** The stored messages of a thread. */
export async function historyOf(served: ServedAgents, thread = 'thread-1', headers = {}): Promise<Message[]> {
  return ((await snapshot(served, `message_snapshot/${thread}`, headers)) as { messages: Message[] }).messages
}

/** The state of a thread, as clients may see it. */
export async function stateOf(served: ServedAgents, thread = 'thread-1', headers = {}): Promise<unknown> {
  return ((await snapshot(served, `state_snapshot/${thread}`, headers)) as { snapshot: unknown }).snapshot
}

async function snapshot(served: ServedAgents, path: string, headers: object): Promise<unknown> {
  const { body, status, text } = await served.ask(`GET /${path}`, { headers: { ...headers } })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body
}

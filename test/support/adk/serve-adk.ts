import { LogLevel, setLogLevel } from '@google/adk'
import type { Interrupt, Message, Tool as ToolInfo } from '@ag-ui/core'
import type { Content } from '../../../src/adk/adk-types.js'
import type { Agent } from '../../../src/agents/index.js'
import type { AgUiEvent } from '../../../src/protocol/index.js'
import { ofType } from '../run-agent.js'
import { serveAgents, type ServeAgentsOptions, type ServedAgents } from '../serve-agents.js'

// ADK logs a warning for every deprecated agent.
setLogLevel(LogLevel.ERROR)

export interface ServeAdkOptions extends Omit<ServeAgentsOptions, 'agents'> {
  /** Makes the agent: once, and again for every restart, as a new process would. */
  readonly make: () => Agent
}

/** Serves one agent. A restart makes a new one: the memory of the first is gone. */
export async function serveAdk({ make, ...options }: ServeAdkOptions): Promise<ServedAgents> {
  let current = make()
  const memory = current.memory && {
    read: (...args: Parameters<NonNullable<Agent['memory']>['read']>) => memoryOf(current).read(...args),
    writeState: (...args: Parameters<NonNullable<Agent['memory']>['writeState']>) =>
      memoryOf(current).writeState(...args),
    forget: (...args: Parameters<NonNullable<Agent['memory']>['forget']>) =>
      memoryOf(current).forget(...args),
  }
  const agent: Agent = { ...current, run: (ctx) => current.run(ctx), ...(memory && { memory }) }
  const served = await serveAgents({ ...options, agents: [agent] })
  const renewing = (one: ServedAgents): ServedAgents => ({
    ...one,
    async restart() {
      const next = await one.restart()
      current = make()
      return renewing(next)
    },
  })
  return renewing(served)
}

function memoryOf({ memory, name }: Agent): NonNullable<Agent['memory']> {
  if (!memory) throw new Error(`${name} has no memory.`)
  return memory
}

/** The contents of a model request, as `role: text`, `role: name(arguments)` and `role: name -> result`. */
export function requestLines(contents: readonly Content[] | undefined): string[] {
  return (contents ?? []).map(({ role, parts = [] }) => {
    const shown = parts.map(({ text, functionCall, functionResponse }) => {
      if (functionCall) return `${functionCall.name}(${JSON.stringify(functionCall.args)})`
      if (functionResponse) return `${functionResponse.name} -> ${JSON.stringify(functionResponse.response)}`
      return text ?? '?'
    })
    return `${role}: ${shown.join(' | ')}`
  })
}

/** A tool of the client that takes anything. */
export function clientTool(name: string): ToolInfo {
  return { name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } }
}

/** The text of a run, all messages in one. */
export function textIn(events: readonly AgUiEvent[]): string {
  return ofType(events, 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta)
    .join('')
}

/** The calls of the run, by the names that clients know: name and id. */
export function callsIn(events: readonly AgUiEvent[]): { name: string; id: string }[] {
  return ofType(events, 'TOOL_CALL_START').map(({ toolCallName, toolCallId }) => ({
    name: toolCallName,
    id: toolCallId,
  }))
}

/** The id of the only call of that name. */
export function callId(events: readonly AgUiEvent[], name: string): string {
  const [call, ...more] = callsIn(events).filter((one) => one.name === name)
  if (!call || more.length > 0) throw new Error(`There are ${more.length + (call ? 1 : 0)} calls of ${name}.`)
  return call.id
}

/** The interrupts that a run ended with. */
export function interruptsIn(events: readonly AgUiEvent[]): readonly Interrupt[] {
  const last = events.at(-1)
  const outcome = last?.type === 'RUN_FINISHED' ? last.outcome : undefined
  if (outcome?.type !== 'interrupt') throw new Error(`There is no interrupt: ${JSON.stringify(last)}`)
  return outcome.interrupts
}

/** The stored messages of a thread. */
export async function historyOf(served: ServedAgents, thread = 'thread-1', headers = {}): Promise<Message[]> {
  const { body, status, text } = await served.ask(`GET /message_snapshot/${encodeURIComponent(thread)}`, {
    headers,
  })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return (body as { messages: Message[] }).messages
}

/** The state of a thread, as clients may see it. */
export async function stateOf(served: ServedAgents, thread = 'thread-1', headers = {}): Promise<unknown> {
  const { body, status, text } = await served.ask(`GET /state_snapshot/${encodeURIComponent(thread)}`, {
    headers,
  })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return (body as { snapshot: unknown }).snapshot
}

/** The events in the text of a stream. */
export function dataIn(text: string): AgUiEvent[] {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as AgUiEvent] : []))
}

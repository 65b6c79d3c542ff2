import type { Agent, Tool, ToolContext } from '../../src/agents/contract.js'
import { defineAgent } from '../../src/agents/chat/chat-agent.js'
import { defineTool } from '../../src/agents/tools/define-tool.js'
import type { TurnLoop, TurnLoopOptions } from '../../src/agents/turn-loop/contract.js'
import { createTurnLoop } from '../../src/agents/turn-loop/turn-loop.js'
import { scriptedModel, type ModelRequest, type Script } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'

/** A loop with a reader. */
export interface WatchedLoop {
  readonly loop: TurnLoop
  /** The events so far, turn by turn. Throws when one of the turns breaks the protocol. */
  readonly turns: () => AgUiEvent[][]
  /** How each turn ended, as its last event says: an outcome, or the code of an error. */
  readonly ends: () => (string | undefined)[]
  /** Resolves when the reader has come to the end. */
  readonly read: Promise<void>
}

/** Makes a loop and reads it; `onEvent` is called for every event read. Every turn is linted against the conversation that its agent was given. */
export function watchTurns(
  agent: Agent,
  options: TurnLoopOptions = {},
  onEvent: (event: AgUiEvent, loop: TurnLoop) => void = () => undefined,
): WatchedLoop {
  const inputs = new Map<string, unknown>()
  const watched: Agent = {
    ...agent,
    run(ctx) {
      const { threadId, runId, messages, state } = ctx
      inputs.set(runId, { protocolVersion: '1.0', threadId, runId, messages, state })
      return agent.run(ctx)
    },
  }
  const loop = createTurnLoop(watched, options)
  const all: AgUiEvent[][] = []
  const read = (async () => {
    for await (const event of loop.events) {
      if (event.type === 'RUN_STARTED' || all.length === 0) all.push([])
      all.at(-1)?.push(event)
      onEvent(event, loop)
    }
  })()
  const turns = (): AgUiEvent[][] => {
    for (const events of all) {
      const [first] = events
      if (first?.type !== 'RUN_STARTED') throw new Error('A turn does not begin with RUN_STARTED.')
      if (first.threadId !== loop.threadId) throw new Error(`A turn is of thread ${first.threadId}.`)
      const input = inputs.get(first.runId)
      assertValidStream(events, {
        ...(input === undefined ? {} : { input }),
        complete: events !== all.at(-1),
      })
    }
    return all
  }
  return { loop, turns, ends: () => turns().map((events) => endOf(events.at(-1))), read }
}

function endOf(event: AgUiEvent | undefined): string | undefined {
  if (event?.type === 'RUN_ERROR') return event.code
  return event?.type === 'RUN_FINISHED' ? (event.outcome?.type ?? 'success') : undefined
}

/** A loop around an agent with a script for a model. */
export function talk(script: Script, tools: readonly Tool[] = [], options: TurnLoopOptions = {}) {
  const model = scriptedModel(script)
  const agent = defineAgent({ name: 'a', model, tools })
  return { agent, model, ...watchTurns(agent, options) }
}

/** A tool without arguments. */
export function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

/** What a model was shown, as `role: content`. */
export function heard(request: ModelRequest | undefined): string[] {
  return (request?.messages ?? []).map(
    ({ role, content }) => `${role}: ${typeof content === 'string' ? content : ''}`,
  )
}

import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import type { BaseCheckpointSaver } from '@langchain/langgraph'
import { fromLangGraph } from '../../../src/langgraph/index.js'
import type { AgUiEvent } from '../../../src/protocol/index.js'
import { newClient } from '../../e2e/support-clients.js'
import { inputOf, user } from '../../e2e/support-server.js'
import type { ServedAgents } from '../serve-agents.js'
import { historyOf, serveGraph } from './serve-graph.js'

/** What happens to the server between interrupt and answer. */
export const betweens = [
  'nothing',
  'restart: threads and checkpoints in SQLite',
  'restart: threads in memory, checkpoints in SQLite',
] as const
export type Between = (typeof betweens)[number]
type Graph = Parameters<typeof fromLangGraph>[0]
export type MakeGraph = (checkpointer: BaseCheckpointSaver) => unknown
type Answers = (question: Interrupt) => Omit<ResumeEntry, 'interruptId'> | undefined

export const yes = (payload: unknown = {}) => ({ status: 'resolved' as const, payload })

/** A conversation that survives a restart. After it, a new client knows only what the server sends. */
export async function converse(make: MakeGraph, between: Between) {
  let served: ServedAgents = await serveGraph({
    make: (checkpointer) => fromLangGraph(make(checkpointer) as Graph, { name: 'asker' }),
    checkpoints: 'sqlite',
    store: between === 'restart: threads in memory, checkpoints in SQLite' ? 'memory' : 'sqlite',
  })
  let client = newClient({ url: served.url })
  let count = 0
  const go = async (fields: object = {}): Promise<readonly AgUiEvent[]> => {
    const body = inputOf({ runId: `run-${++count}`, messages: client.messages, ...fields })
    const { events } = await served.stream('/run', { body })
    client.setMessages(await historyOf(served))
    return events
  }
  return {
    go,
    get served() {
      return served
    },
    async say(text: string): Promise<readonly AgUiEvent[]> {
      client.addMessage(user(`u${count + 1}`, text))
      return go()
    },
    /** Restarts if required, connects with a new client, and answers the interrupts. */
    async answer(answers: Answers, fields: object = {}): Promise<readonly AgUiEvent[]> {
      if (between !== 'nothing') served = await served.restart()
      client = newClient({ url: served.url })
      await client.connectAgent()
      const resume = client.pendingInterrupts.flatMap((question) => {
        const answer = answers(question)
        return answer ? [{ interruptId: question.id, ...answer }] : []
      })
      return go({ resume, ...fields })
    },
  }
}

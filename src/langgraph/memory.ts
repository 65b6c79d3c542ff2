import type { Message } from '@ag-ui/core'
import { interruptedBy, rootAddress, type AgentMemory } from '../agents/index.js'
import { isRecord } from '../core/is-record.js'
import type { Question } from './ask/questions.js'
import { deleteThread, savedState, writeState } from './input/checkpoints.js'
import { checkpointerOf } from './input/memory-graph.js'
import { toAgui } from './input/to-agui.js'
import { isClientCall, likelyBreakpoint, openQuestions } from './open-questions.js'
import { threadConfig, type GraphSetup } from './setup.js'
import { createVisibleState } from './translate/visible-state.js'

/** The checkpoints of a graph, read and changed without a run. None when it keeps none. */
export function createMemory(setup: GraphSetup): AgentMemory | undefined {
  const { name, graph, options } = setup
  if (!checkpointerOf(graph)) return undefined
  const isPrivate = (key: string): boolean => options.privateKeys?.includes(key) === true
  const visible = createVisibleState(isPrivate, () => undefined)
  return {
    async read(thread) {
      const config = await threadConfig(setup, thread)
      const saved = await savedState(graph, config)
      if (!saved) return undefined
      const values: unknown = saved.values
      const messages = toAgui(isRecord(values) ? values.messages : [])
      const open = await openQuestions(graph, config)
      const asked = open.length > 0 ? open : await likelyBreakpoint(graph, config)
      const questions = asked.filter((question) => !isClientCall(question))
      const suspension =
        questions.length > 0
          ? interruptedBy(rootAddress({ name }), { interrupts: questions, answers: {} })
          : undefined
      return {
        messages,
        state: (isRecord(values) ? visible.of(values) : undefined) ?? {},
        pendingToolCallIds: pendingIds(open, saved.next.length === 0 ? messages : []),
        ...(suspension && { suspension }),
      }
    },
    async writeState(thread, state) {
      // When the graph is in the middle of something, the next run brings the state along.
      await writeState(graph, await threadConfig(setup, thread), state)
    },
    async forget(thread) {
      const { configurable } = await threadConfig(setup, thread)
      await deleteThread(graph, String(configurable?.thread_id))
    },
  }
}

/** The calls that wait for the client: those a graph asks for, or those that one has ended with. */
function pendingIds(open: readonly Question[], messages: readonly Message[]): string[] {
  const askedFor = open.flatMap((question) =>
    isClientCall(question) ? (question.interrupt.toolCallId ?? []) : [],
  )
  if (askedFor.length > 0) return askedFor
  const answered = new Set(
    messages.map((message) => (message.role === 'tool' ? message.toolCallId : undefined)),
  )
  const last = messages.findLast(({ role }) => role !== 'tool')
  const calls = last?.role === 'assistant' ? (last.toolCalls ?? []) : []
  return calls.map(({ id }) => id).filter((id) => !answered.has(id))
}

import type { Interrupt, Message } from '@ag-ui/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { treePlan, type TreePlan } from '../../../test/support/arbitrary-tree.js'
import { clientTool, createTreeLog, growTree, type TreeLog } from '../../../test/support/grow-tree.js'
import { workOf } from '../../../test/support/tree-work.js'
import { play, toResume, type Played } from '../../../test/support/run-agent.js'
import type { RunFields } from './run.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

/** How many trees. For more of them: `PROPERTY_RUNS=10000 npm run test:unit -- random-trees`. */
const numRuns = propertyRuns(250)

type Choose = (below: number) => number

interface Client {
  readonly log: TreeLog
  readonly choose: Choose
  /** The questions that were answered, by id and by message. */
  readonly answered: Set<string>
  messages: readonly Message[]
  checkpoint: unknown
}

/** One run with agents that nobody has used before, from what was saved as text. */
async function send(plan: TreePlan, client: Client, fields: RunFields): Promise<Played> {
  const { checkpoint, log } = client
  const request = { threadId: 'thread', tools: [clientTool], ...fields }
  const played = await play(growTree(plan, log), request, { checkpoint })
  const { outcome } = played
  client.messages = outcome.messages
  client.checkpoint = 'checkpoint' in outcome ? JSON.parse(JSON.stringify(outcome.checkpoint)) : undefined
  return played
}

/** Answers some of the open questions each time, in any order, and the client's calls now or later, until all is done. */
async function converse(plan: TreePlan, client: Client): Promise<Played> {
  const hello: Message = { id: 'hello', role: 'user', content: 'Hello.' }
  let last = await send(plan, client, { messages: [hello] })
  for (let runs = 1; ; runs++) {
    expect(runs).toBeLessThan(500)
    const { outcome } = last
    const results = resultsOf(pendingIn(client.messages))
    if (outcome.type === 'interrupted') {
      checkInterrupts(outcome.interrupts, client)
      last = await send(plan, client, nextOf(outcome.interrupts, results, client))
    } else if (outcome.type === 'completed' && results.length > 0) {
      checkInterrupts([], client)
      expect(outcome.pendingToolCalls.map(({ id }) => id).sort()).toEqual(
        results.map(({ toolCallId }) => toolCallId).sort(),
      )
      last = await send(plan, client, { messages: [...client.messages, ...results] })
    } else return last
  }
}

/** Open is what was asked and has not been answered: all of it, and nothing else. */
function checkInterrupts(interrupts: readonly Interrupt[], { log, answered }: Client): void {
  const open = interrupts.map(({ message = '' }) => message)
  expect(open.sort()).toEqual([...log.asked.keys()].filter((message) => !answered.has(message)).sort())
  expect(interrupts.filter(({ id }) => answered.has(id))).toEqual([])
}

function nextOf(
  interrupts: readonly Interrupt[],
  results: readonly Message[],
  { choose, log, answered, messages }: Client,
): RunFields {
  const open = [...interrupts]
  const answers: Record<string, unknown> = {}
  // Now and then none: then they are asked again.
  for (let count = choose(8) === 0 ? 0 : 1 + choose(open.length); count > 0; count--) {
    const [one] = open.splice(choose(open.length), 1)
    if (!one) break
    const { id, message = '' } = one
    answers[id] = log.asked.get(message) === 'cancelled' ? 'cancelled' : message
    answered.add(id).add(message)
  }
  const resume = toResume(answers)
  const how = choose(3)
  if (how === 0 && results.length > 0) return { resume, messages: [...messages, ...results] }
  // The checkpoint has them too.
  return how === 1 ? { resume } : { resume, messages }
}

function pendingIn(messages: readonly Message[]): string[] {
  const answered = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
  return messages
    .flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
    .filter(({ id, function: { name } }) => name === clientTool.name && !answered.has(id))
    .map(({ id }) => id)
}

function resultsOf(toolCallIds: readonly string[]) {
  return toolCallIds.map((toolCallId) => ({
    id: `result-${toolCallId}`,
    role: 'tool' as const,
    toolCallId,
    content: `client did ${toolCallId}`,
  }))
}

/** What is wrong with what a model was shown: a message twice, a call that is not followed by its one result. */
function flawsIn(messages: readonly Message[]): string[] {
  const flaws: string[] = []
  const ids = messages.map(({ id }) => id)
  if (new Set(ids).size < ids.length) flaws.push(`twice the same message: ${ids.join()}`)
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.includes(message.toolCallId)) flaws.push(`a stray result of ${message.toolCallId}`)
      open = open.filter((id) => id !== message.toolCallId)
    } else {
      if (open.length > 0) flaws.push(`no result of ${open.join()}`)
      open = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : []
    }
  }
  return open.length > 0 ? [...flaws, `no result of ${open.join()}`] : flaws
}

function countsOf(shown: TreeLog['shown']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { agent } of shown) counts.set(agent, (counts.get(agent) ?? 0) + 1)
  return counts
}

test(
  'a tree of agents comes to its end whatever is answered when, and does everything exactly once',
  async () => {
    await fc.assert(
      fc.asyncProperty(treePlan, fc.infiniteStream(fc.nat()), async (plan, dice) => {
        const log = createTreeLog()
        const choose: Choose = (below) => Number(dice.next().value) % below
        const client: Client = { log, choose, answered: new Set(), messages: [], checkpoint: undefined }
        const { outcome } = await converse(plan, client)
        expect(outcome).toMatchObject({ type: 'completed', pendingToolCalls: [] })
        checkInterrupts([], client)
        const work = workOf(plan)
        expect(sorted(log.done)).toEqual(sorted(work.done))
        expect([...log.finished].filter(([, times]) => times !== 1)).toEqual([])
        expect(sorted(countsOf(log.shown))).toEqual(sorted(work.answers))
        expect(log.shown.flatMap(({ messages }) => flawsIn(messages))).toEqual([])
      }),
      // To make a tree that fails smaller takes minutes: do it by hand, with the path that is reported.
      { numRuns, endOnFailure: true },
    )
  },
  Math.max(120_000, numRuns * 400),
)

function sorted(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { treePlan, type TreeCall, type TreePlan } from '../../../test/support/arbitrary-tree.js'
import { createTreeLog, growTree, type TreeLog } from '../../../test/support/grow-tree.js'
import { workOf } from '../../../test/support/tree-work.js'
import { linted, ofType, resultsIn } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { run, type Outcome } from './run.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

/** How many trees. For more of them: `PROPERTY_RUNS=10000 npm run test:unit -- stopped-trees`. */
const numRuns = propertyRuns(100)

/**
 * The same tree with nobody to wait for, and every agent once: a model that is asked again cannot tell what was cut off
 * in an earlier turn of its agent from what was not.
 */
function straight(plan: TreePlan): TreePlan {
  switch (plan.kind) {
    case 'chat':
      return { ...plan, answers: plan.answers.map((calls) => calls.map(straightCall)) }
    case 'hand':
      return { ...plan, questions: [] }
    case 'loop':
      return { ...plan, agents: plan.agents.map(straight), rounds: 1 }
    case 'team':
      return { kind: 'sequential', agents: plan.members.map(straight), again: false }
    default:
      return { ...plan, agents: plan.agents.map(straight), again: false }
  }
}

function straightCall(call: TreeCall): TreeCall {
  if (call.kind === 'agent') return { ...call, tree: straight(call.tree) }
  return { kind: 'plain', turns: call.turns }
}

interface Stop {
  /** After how many events the reader stops the run. */
  readonly after: number
  /** How far the run may be ahead of its reader. */
  readonly bufferSize: number
}

/** What a reader has seen come to its end: results of calls, and agents. */
function endedIn(events: readonly AgUiEvent[]): string[] {
  const names = new Map(ofType(events, 'SUBAGENT_STARTED').map((one) => [one.subagentRunId, one.name]))
  return [
    ...resultsIn(events).map((line) => line.replace(/^.*: did /, '')),
    ...ofType(events, 'SUBAGENT_FINISHED').flatMap((one) => names.get(one.subagentRunId) ?? []),
  ]
}

/** Whether clients see all that is done in it. */
function isShown(plan: TreePlan): boolean {
  return !JSON.stringify(plan).includes('"isShown":false')
}

/** The work whose results a client holds in the end, once each. */
function resultsShown({ messages }: Outcome): string[] {
  const results = messages.flatMap(({ role, content }) =>
    role === 'tool' && typeof content === 'string' && content.startsWith('did ') ? [content.slice(4)] : [],
  )
  return results.sort()
}

interface Stopped {
  readonly outcome: Outcome
  readonly ended: readonly string[]
}

async function runUntil(
  plan: TreePlan,
  log: TreeLog,
  how: { stop?: Stop; checkpoint?: unknown },
): Promise<Stopped> {
  const { stop, checkpoint } = how
  const hello = { id: 'hello', role: 'user' as const, content: 'Hello.' }
  const request = { threadId: 'thread', ...(checkpoint === undefined ? { messages: [hello] } : {}) }
  const options = { checkpoint, bufferSize: stop?.bufferSize ?? 256 }
  const running = run(growTree(plan, log), request, options)
  const events: AgUiEvent[] = []
  for await (const event of linted(running, request, options))
    if (events.push(event) === stop?.after) running.cancel()
  return { outcome: await running.result, ended: endedIn(events) }
}

const stops = fc.array(
  fc.record({ after: fc.integer({ min: 1, max: 60 }), bufferSize: fc.constantFrom(0, 1, 4, 256) }),
  { maxLength: 3 },
)

test(
  'a tree of agents that is stopped anywhere goes on to its end, and does not do again what had ended',
  async () => {
    await fc.assert(
      fc.asyncProperty(treePlan.map(straight), stops, async (plan, all) => {
        const log = createTreeLog()
        const done = new Map<string, number>()
        let last = await runUntil(plan, log, all[0] ? { stop: all[0] } : {})
        for (const stop of [...all.slice(1), undefined]) {
          if (last.outcome.type !== 'cancelled') break
          for (const key of last.ended) done.set(key, log.done.get(key) ?? 0)
          // None when nobody had begun: then it starts afresh.
          const checkpoint: unknown = JSON.parse(JSON.stringify(last.outcome.checkpoint ?? null)) ?? undefined
          last = await runUntil(plan, log, { checkpoint, ...(stop ? { stop } : {}) })
        }
        expect(last.outcome.type).toBe('completed')
        expect([...done].filter(([key, times]) => (log.done.get(key) ?? 0) !== times)).toEqual([])
        const keys = [...workOf(plan).done.keys()].sort()
        expect([...log.done].sort()).toEqual(keys.map((key) => [key, 1]))
        if (isShown(plan)) expect(resultsShown(last.outcome)).toEqual(keys.filter((key) => key.includes('.')))
      }),
      // To make a tree that fails smaller takes minutes: do it by hand, with the path that is reported.
      { numRuns, endOnFailure: true },
    )
  },
  Math.max(120_000, numRuns * 400),
)

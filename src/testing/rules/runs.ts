import type { RunAgentInput, TokenUsage } from '@ag-ui/core'
import { defineRule, type Rule } from './rule.js'
import type { RunFacts } from './run-facts.js'

/** Runs, threads and versions are those of the request. */
export const runIdentityRules = [
  defineRule('run-id', ['RUN_FINISHED'], function* ({ runId }, { run }) {
    const started = run.started?.event.runId
    if (started !== undefined && runId !== started) {
      yield `RUN_FINISHED has runId '${runId}', its RUN_STARTED has '${started}'`
    }
  }),
  defineRule('thread-id', ['RUN_STARTED'], function* ({ threadId }, { run, input }) {
    const expected = input?.threadId ?? run.threadId
    if (expected !== undefined && threadId !== expected) {
      yield `RUN_STARTED has threadId '${threadId}', the thread is '${expected}'`
    }
  }),
  defineRule('thread-id', ['RUN_FINISHED'], function* ({ threadId }, { run }) {
    const started = run.started?.event.threadId
    if (started !== undefined && threadId !== started) {
      yield `RUN_FINISHED has threadId '${threadId}', its RUN_STARTED has '${started}'`
    }
  }),
  defineRule('protocol-version', ['RUN_STARTED'], function* ({ protocolVersion }, { input }) {
    if (protocolVersion === undefined) {
      if (input?.protocolVersion !== undefined) yield 'RUN_STARTED names no protocolVersion, the input does'
    } else if (!/^1\.\d+$/.test(protocolVersion)) {
      yield `RUN_STARTED has protocolVersion '${protocolVersion}', clients read two numbers such as '1.0'`
    }
  }),
]

/** Says what is wrong with the last run of a complete stream. Earlier runs may be a replay; this one was requested. */
export function lastRunProblem({ started }: RunFacts, input: RunAgentInput): string | undefined {
  if (!started || started.event.runId === input.runId) return undefined
  return `the last RUN_STARTED has runId '${started.event.runId}', the input has '${input.runId}'`
}

/** A run ends once, and its end is consistent. */
export const runEndRules = [
  defineRule('second-terminal', ['RUN_ERROR'], function* (_event, { run }) {
    if (run.ended) yield 'RUN_ERROR follows the terminal event of the run'
  }),
  defineRule('cancelled-with-result', ['RUN_FINISHED'], function* ({ outcome, result }) {
    if (outcome?.type === 'cancelled' && result !== undefined) yield 'the run is cancelled and has a result'
  }),
  defineRule('usage-sums', ['RUN_FINISHED', 'RUN_ERROR'], function* ({ usage = [] }) {
    for (const entry of usage) yield* sumProblems(entry)
  }),
]

function* sumProblems(usage: TokenUsage): Iterable<string> {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens = 0 } = usage
  const cached = (usage.cachedInputTokens ?? 0) + (usage.cacheWriteInputTokens ?? 0)
  if (inputTokens !== undefined && cached > inputTokens) {
    yield `${cached} cached tokens are more than the ${inputTokens} input tokens that include them`
  }
  if (outputTokens !== undefined && reasoningTokens > outputTokens) {
    yield `${reasoningTokens} reasoning tokens are more than the ${outputTokens} output tokens that include them`
  }
  if (inputTokens === undefined || outputTokens === undefined || totalTokens === undefined) return
  if (inputTokens + outputTokens !== totalTokens) {
    yield `${inputTokens} input and ${outputTokens} output tokens are not ${totalTokens} in total`
  }
}

/** A subagent writes nothing after its end. */
export const subagentRules: readonly Rule[] = [
  {
    name: 'subagent-closed',
    *check({ event, run }) {
      if (!('subagentRunId' in event)) return
      const phase = run.subagents.get(event.subagentRunId)
      if (phase && phase.type !== 'active') {
        yield `${event.type} is tagged with subagent '${event.subagentRunId}', which ended in ${phase.type}`
      }
    },
  },
]

import type { TokenUsage } from '@ag-ui/core'
import { defineRule } from './rule.js'

/** A run ends once and tells a consistent story. */
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

import type { RunAgentInput } from '@ag-ui/core'
import type { RunFacts } from '../run-facts.js'
import { defineRule } from './rule.js'

/** Runs, threads and versions are the ones asked for. */
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

/** What is wrong with the last run of a complete stream: earlier runs may be a replay, this one was asked for. */
export function lastRunProblem({ started }: RunFacts, input: RunAgentInput): string | undefined {
  if (!started || started.event.runId === input.runId) return undefined
  return `the last RUN_STARTED has runId '${started.event.runId}', the input has '${input.runId}'`
}

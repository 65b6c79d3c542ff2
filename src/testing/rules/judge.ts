import type { RunAgentInput } from '@ag-ui/core'
import { createFold, type AgUiEvent } from '../../protocol/index.js'
import { initialFacts, nextFacts } from '../run-facts.js'
import { reducerRule } from './client-reducer.js'
import { interruptRules } from './interrupts.js'
import { messageRules } from './messages.js'
import { payloadRules } from './payload.js'
import type { Finding, Moment, Rule } from './rule.js'
import { runEndRules } from './run-end.js'
import { lastRunProblem, runIdentityRules } from './run-identity.js'
import { subagentRules } from './subagents.js'
import { toolRules } from './tools.js'
import { versionGateRules } from './version-gate.js'

const rules: readonly Rule[] = [
  ...runIdentityRules,
  ...runEndRules,
  ...versionGateRules,
  ...payloadRules,
  ...messageRules,
  ...toolRules,
  ...interruptRules,
  ...subagentRules,
]

/** Holds the rules against the events of one stream, in order. */
export interface Judge {
  judge(event: AgUiEvent, sent: Moment['sent'], index: number): readonly Finding[]
  /** What shows only at the end, and the event it is about. */
  end(): readonly (Finding & { readonly index: number | undefined })[]
}

/** `input` is the request the stream answers, when it is known. */
export function createJudge(input: RunAgentInput | undefined): Judge {
  const fold = createFold({ messages: input?.messages ?? [], state: input?.state ?? {} })
  let run = initialFacts(fold.messages)
  return {
    judge(event, sent, index) {
      const { messages } = fold
      const moment = { event, sent, run, messages, input }
      const findings = rules.flatMap((rule) => findingsOf(rule, moment))
      run = nextFacts(run, { event, index, messages })
      const message = fold.apply(event)
      const rule = reducerRule(event.type)
      return message === undefined || !rule ? findings : [...findings, { rule, message }]
    },
    end() {
      const message = input && lastRunProblem(run, input)
      return message === undefined ? [] : [{ rule: 'run-id', message, index: run.started?.index }]
    },
  }
}

function findingsOf(rule: Rule, moment: Moment): Finding[] {
  return [...rule.check(moment)].map((message) => ({ rule: rule.name, message }))
}

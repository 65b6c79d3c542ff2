import type { Rule } from './rule.js'

/** A subagent is silent after its end. */
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

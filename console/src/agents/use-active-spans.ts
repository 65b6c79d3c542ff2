import { useEffect, useState } from 'react'
import type { RunSummary } from '../session/contract.js'
import { asUser } from '../session/as-user.js'
import { useApi } from '../session/use-api.js'
import { activeSpans, type ActiveSpan, type OpenStep } from './active-spans.js'

const nothing: readonly ActiveSpan[] = []

/** Follows the newest live run of an agent, and tells which of its parts are at work. Undefined: no run is live. */
export function useActiveSpans(
  agent: string,
  runs: readonly RunSummary[] | undefined,
): readonly ActiveSpan[] {
  const { client, session } = useApi()
  const owner = asUser.use() ?? session.user
  const live = runs?.filter((run) => run.agent === agent && run.status === 'running') ?? []
  // Runs of others cannot be followed; that they are live can be seen.
  const followed = live.find(({ user }) => user === owner)?.threadId
  const [spans, setSpans] = useState<readonly ActiveSpan[]>(nothing)
  useEffect(() => {
    setSpans(nothing)
    if (followed === undefined) return
    let steps: readonly OpenStep[] = []
    const thread = client.thread(agent, followed, {
      onEvent(event) {
        if (event.type === 'RUN_STARTED') steps = []
        if (event.type === 'STEP_STARTED')
          steps = [...steps, { name: event.stepName, ...subagentOf(event.subagentRunId) }]
        if (event.type === 'STEP_FINISHED')
          steps = steps.filter(
            ({ name, subagentId }) => name !== event.stepName || subagentId !== event.subagentRunId,
          )
      },
    })
    const show = (): void =>
      setSpans(activeSpans({ root: agent, subagents: thread.getSnapshot().subagents, steps }))
    const end = thread.subscribe(show)
    return () => {
      end()
      thread.close()
    }
  }, [client, agent, followed])
  if (live.length === 0) return nothing
  return spans.length > 0 ? spans : [[agent]]
}

function subagentOf(id: string | undefined): { readonly subagentId?: string } {
  return id === undefined ? {} : { subagentId: id }
}

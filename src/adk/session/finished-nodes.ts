import type { Event } from '@google/adk'

/**
 * Hides, in the events that a Runner sees, that a node of a workflow has waited before it finished. ADK 2.0 counts the wait and
 * what the node did after the answer as two runs: when a later node waits too and is answered, it takes the first node for
 * unfinished, runs it again, and the answer is lost. The stored events stay as they are.
 *
 * Looks at the last invocation only, which is the one that a run continues.
 */
export function hideFinishedWaits(events: Event[]): void {
  const invocationId = events.at(-1)?.invocationId
  const finished = new Set<string>()
  for (let at = events.length - 1; at >= 0; at--) {
    const event = events[at]
    if (event?.invocationId !== invocationId) return
    const { nodeInfo, branch = '', output, route, longRunningToolIds = [] } = event as Partial<Event>
    if (nodeInfo === undefined) continue
    const node = `${nodeInfo.path} ${branch}`
    if (output !== undefined || route !== undefined) finished.add(node)
    else if (longRunningToolIds.length > 0 && finished.has(node))
      events[at] = { ...event, longRunningToolIds: [] } as Event
  }
}

import { hrefOf } from '../router.js'

/** The name of a run of this server, as the address of the inspector has it. */
export function sourceOfRun(agent: string, threadId: string, runId: string): string {
  return `run:${[agent, threadId, runId].map(encodeURIComponent).join('/')}`
}

/** The address of a run in the inspector. */
export function hrefOfRun(agent: string, threadId: string, runId: string): string {
  return hrefOf({ page: 'inspect', source: sourceOfRun(agent, threadId, runId) })
}

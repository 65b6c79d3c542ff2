import type { RunSummary } from '../session/contract.js'

/** What the list shows. An empty text means any. */
export interface RunFilter {
  readonly search: string
  readonly status: string
  readonly agent: string
  readonly user: string
  /** Only runs that took, or take, longer. */
  readonly longerThanMs: number
}

export const anyRun: RunFilter = { search: '', status: '', agent: '', user: '', longerThanMs: 0 }

export function filterRuns(runs: readonly RunSummary[], filter: RunFilter, now: number): RunSummary[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean)
  return runs.filter((run) => {
    for (const name of ['status', 'agent', 'user'] as const)
      if (filter[name] !== '' && run[name] !== filter[name]) return false
    if (filter.longerThanMs > 0 && durationOf(run, now) <= filter.longerThanMs) return false
    const text = textOf(run)
    return words.every((word) => text.includes(word))
  })
}

/** How long a run took, or has been at work. */
export function durationOf({ startedAt, endedAt }: RunSummary, now: number): number {
  return Math.max(0, (endedAt ?? now) - startedAt)
}

function textOf({ title = '', agent, user, threadId, runId, error }: RunSummary): string {
  return [title, agent, user, threadId, runId, error?.code ?? '', error?.message ?? '']
    .join('\n')
    .toLowerCase()
}

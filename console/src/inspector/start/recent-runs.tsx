import { useEffect, useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import type { RunSummary } from '../../session/contract.js'
import { useApi } from '../../session/use-api.js'
import { sourceOfRun } from '../links.js'

interface RecentRunsProps {
  readonly onChoose: (source: string) => void
  readonly except?: string
}

/** The latest runs of this server. */
export function RecentRuns({ onChoose, except }: RecentRunsProps): ReactNode {
  const texts = useTexts()
  const api = useApi()
  const [runs, setRuns] = useState<readonly RunSummary[]>([])
  useEffect(() => {
    const controller = new AbortController()
    api.get<{ readonly runs: readonly RunSummary[] }>('runs?limit=20', controller.signal).then(
      (list) => setRuns(list.runs),
      // The page of the runs says what is wrong with them.
      () => undefined,
    )
    return () => controller.abort()
  }, [api])
  const shown = runs.filter((run) => sourceOf(run) !== except)
  if (shown.length === 0) return <p className="muted small">{texts.insNoRuns}</p>
  return (
    <ul className="plain recent-runs">
      {shown.map((run) => (
        <li key={sourceOf(run)}>
          <button className="recent-run" onClick={() => onChoose(sourceOf(run))}>
            <b>{run.agent}</b>
            <span className="recent-run-title">{run.title ?? run.runId}</span>
            <span className="badge">{run.status}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function sourceOf({ agent, threadId, runId }: RunSummary): string {
  return sourceOfRun(agent, threadId, runId)
}

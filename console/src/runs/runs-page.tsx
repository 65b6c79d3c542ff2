import { useMemo, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { hrefOf } from '../router.js'
import type { RunSummary } from '../session/contract.js'
import { useApi } from '../session/use-api.js'
import { Notice } from '../ui/notice.js'
import { anyRun, filterRuns } from './filter-runs.js'
import { RunFilters } from './run-filters.js'
import { RunTable } from './run-table.js'
import { useCancelRun } from './use-cancel-run.js'
import { useNow } from './use-now.js'
import { useRuns } from './use-runs.js'
import './runs-page.css'

/** The runs of the person, or of everybody for operators, as they happen. */
export function RunsPage(): ReactNode {
  const texts = useTexts()
  const { runs, isLost } = useRuns()
  const [filter, setFilter] = useState(anyRun)
  const { cancel, problem } = useCancelRun()
  const { session } = useApi()
  // An operator who is alone has nobody to tell apart.
  const showsUsers = session.isOperator && (runs?.some(({ user }) => user !== session.user) ?? false)
  const live = runs?.filter(({ status }) => status === 'running').length ?? 0
  const now = useNow(live > 0)
  // Only a filter on the duration makes the list change with the time.
  const moment = filter.longerThanMs > 0 ? now : 0
  const shown = useMemo(() => filterRuns(runs ?? [], filter, moment), [runs, filter, moment])
  return (
    <section className="runs" aria-labelledby="runs-title">
      <header className="page-head">
        <div>
          <h1 id="runs-title">{texts.runs}</h1>
          <p className="muted small">{texts.runsAbout}</p>
        </div>
        <p className="runs-count small" role="status">
          {live > 0 && <span className="badge badge-accent runs-live">{texts.runsLive(live)}</span>}
          {runs && runs.length > 0 && (
            <span className="muted">{texts.runsShown(shown.length, runs.length)}</span>
          )}
        </p>
      </header>
      {runs && runs.length > 0 && <RunFilters {...{ runs, filter, showsUsers }} onChange={setFilter} />}
      {isLost && (
        <p className="runs-alert runs-alert-warn small" role="status">
          {texts.runsLost}
        </p>
      )}
      {problem !== undefined && (
        <p className="runs-alert runs-alert-bad small" role="alert">
          {texts.cancelFailed(problem)}
        </p>
      )}
      <Body {...{ runs, shown, now, showsUsers }} onCancel={cancel} onClear={() => setFilter(anyRun)} />
    </section>
  )
}

interface BodyProps {
  readonly runs: readonly RunSummary[] | undefined
  readonly shown: readonly RunSummary[]
  readonly now: number
  readonly showsUsers: boolean
  readonly onCancel: (run: RunSummary) => void
  readonly onClear: () => void
}

function Body({ runs, shown, now, showsUsers, onCancel, onClear }: BodyProps): ReactNode {
  const texts = useTexts()
  if (!runs) return <Notice>{texts.loading}</Notice>
  if (runs.length === 0)
    return (
      <Notice title={texts.runsEmpty}>
        {texts.runsEmptyHelp} <a href={hrefOf({ page: 'chat' })}>{texts.chat}</a>
      </Notice>
    )
  if (shown.length === 0)
    return <Notice title={texts.runsNothing} action={{ label: texts.runsClear, run: onClear }} />
  return <RunTable {...{ now, showsUsers, onCancel }} runs={shown} />
}

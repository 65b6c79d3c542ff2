import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { RunSummary } from '../session/contract.js'
import { RunRow } from './run-row.js'
import { keyOfRun } from './use-runs.js'
import './run-table.css'

interface RunTableProps {
  readonly runs: readonly RunSummary[]
  readonly now: number
  readonly showsUsers: boolean
  readonly onCancel: (run: RunSummary) => void
}

/** The runs, of which only those in sight are in the document. */
export function RunTable({ runs, now, showsUsers, onCancel }: RunTableProps): ReactNode {
  const texts = useTexts()
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => (runs[index] ? keyOfRun(runs[index]) : index),
    estimateSize: () => 57,
    overscan: 8,
  })
  const headings = [
    texts.runsStatus,
    texts.runsThread,
    ...(showsUsers ? [texts.runsUser] : []),
    texts.runsStarted,
    texts.runsDuration,
    texts.runsTokens,
    texts.runsEvents,
  ]
  return (
    <div
      ref={scroller}
      className="run-scroller"
      role="table"
      aria-label={texts.runs}
      aria-rowcount={runs.length + 1}
      data-users={showsUsers}
      tabIndex={0}
    >
      <div className="run-row run-headings" role="row" aria-rowindex={1}>
        {headings.map((heading) => (
          <span key={heading} role="columnheader">
            {heading}
          </span>
        ))}
        <span role="columnheader">
          <span className="visually-hidden">{texts.runsActions}</span>
        </span>
      </div>
      <div className="run-rows" role="rowgroup" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const run = runs[index]
          return (
            run && (
              <div
                key={key}
                ref={rows.measureElement}
                data-index={index}
                className="run-row"
                role="row"
                aria-rowindex={index + 2}
                style={{ transform: `translateY(${start}px)` }}
              >
                <RunRow run={run} now={now} showsUser={showsUsers} onCancel={onCancel} />
              </div>
            )
          )
        })}
      </div>
    </div>
  )
}

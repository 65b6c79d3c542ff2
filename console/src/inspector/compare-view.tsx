import { useMemo, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { JsonTree } from '../ui/json-tree.js'
import { EventList } from './event-list.js'
import { formatMs } from './event-text.js'
import { compareRuns, unitOf } from './model/compare-runs.js'
import { changedPaths } from './model/json.js'
import { usageOf } from './model/usage.js'
import { nameOfSource } from './source/source-name.js'
import type { RunRecord } from './source/run-record.js'
import { useRevision } from './source/use-run.js'
import './compare-view.css'

interface CompareViewProps {
  readonly left: RunRecord
  readonly right: RunRecord
  /** The index of the current event of the left run. */
  readonly index: number
  readonly onSelect: (index: number) => void
  readonly onClose: () => void
}

/** Two runs side by side, at the same place of their stories. */
export function CompareView({ left, right, index, onSelect, onClose }: CompareViewProps): ReactNode {
  const texts = useTexts()
  const [leftRevision, rightRevision] = [useRevision(left), useRevision(right)]
  const comparison = useMemo(
    () => compareRuns(left.entries, right.entries),
    [left, right, leftRevision, rightRevision],
  )
  const { firstDifference } = comparison
  const unit = unitOf(comparison.left, index)
  const rightIndex = comparison.right[unit]?.index ?? right.entries.length - 1
  const select = (chosen: number): void =>
    onSelect(comparison.left[unitOf(comparison.right, chosen)]?.index ?? index)
  const [parts, other] =
    firstDifference === undefined
      ? []
      : [comparison.left, comparison.right].map((units) => units[firstDifference]?.index)
  const events = [left.entries[index]?.event, right.entries[rightIndex]?.event] as const
  return (
    <div className="compare">
      <header className="compare-head">
        <p role="status">
          {firstDifference === undefined ? (
            <span className="badge badge-good">{texts.insSame}</span>
          ) : (
            <button className="button" onClick={() => onSelect(parts ?? left.entries.length - 1)}>
              {texts.insFirstDifference(
                (parts ?? left.entries.length - 1) + 1,
                (other ?? right.entries.length - 1) + 1,
              )}
            </button>
          )}
        </p>
        <button className="button" onClick={onClose}>
          {texts.insEndCompare}
        </button>
      </header>
      <Side
        record={left}
        label={texts.insLeft}
        revision={leftRevision}
        current={index}
        onSelect={onSelect}
        marked={parts}
      />
      <Side
        record={right}
        label={texts.insRight}
        revision={rightRevision}
        current={rightIndex}
        onSelect={select}
        marked={other}
      />
      <section className="compare-event" aria-label={`JSON ${texts.insLeft}`}>
        <JsonTree key={index} value={events[0]} depth={3} lit={changedPaths(events[1], events[0])} />
      </section>
      <section className="compare-event" aria-label={`JSON ${texts.insRight}`}>
        <JsonTree key={rightIndex} value={events[1]} depth={3} lit={changedPaths(events[0], events[1])} />
      </section>
    </div>
  )
}

interface SideProps {
  readonly record: RunRecord
  readonly label: string
  readonly revision: number
  readonly current: number
  readonly marked: number | undefined
  readonly onSelect: (index: number) => void
}

function Side({ record, label, revision, current, marked, onSelect }: SideProps): ReactNode {
  const texts = useTexts()
  const { entries, head, source } = record
  const usage = useMemo(() => usageOf(record.file), [record, revision])
  const tokens = usage.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)
  const [first, last] = [entries[0]?.at, entries.at(-1)?.at]
  const facts = [
    head.status,
    texts.insEventCount(entries.length),
    ...(first === undefined || last === undefined ? [] : [formatMs(last - first)]),
    ...(tokens === 0 ? [] : [texts.insTokens(tokens)]),
  ]
  return (
    <div className="compare-side">
      <p className="compare-name tiny">
        <b>{nameOfSource(source)}</b> <span className="muted">{facts.join(' · ')}</span>
      </p>
      <EventList
        {...{ entries, revision, current, onSelect, marked, label }}
        verdict={undefined}
        timeOf={(at) => {
          const time = entries[at]?.at
          return time === undefined || first === undefined ? '' : formatMs(time - first)
        }}
      />
    </div>
  )
}

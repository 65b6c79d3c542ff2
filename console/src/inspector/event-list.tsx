import { useVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { groupOf, matches, summaryOf } from './event-text.js'
import { typeOf } from './model/json.js'
import type { RunEntry } from './model/run-file.js'
import type { LintVerdict } from './source/use-lint.js'
import './event-list.css'

const rowHeight = 28

interface EventListProps {
  readonly entries: readonly RunEntry[]
  /** Changes when entries were added. */
  readonly revision: number
  /** The index of the current event; -1 is before the first. */
  readonly current: number
  readonly onSelect: (index: number) => void
  readonly verdict: LintVerdict | undefined
  readonly timeOf: (index: number) => string
  /** Index of an event to mark: where two runs part. */
  readonly marked?: number | undefined
  readonly label: string
}

/** The events as they came. Only rows in view are drawn. */
export function EventList(props: EventListProps): ReactNode {
  const texts = useTexts()
  const { entries, revision, current, onSelect, verdict, timeOf, marked, label } = props
  const [type, setType] = useState('')
  const [search, setSearch] = useState('')
  const shown = useShown(entries, revision, { type, search: useDeferredValue(search) })
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: shown?.length ?? entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const at = shown ? shown.indexOf(current) : current
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: 'auto' })
  }, [at, rows])
  return (
    <section className="event-list" aria-label={label}>
      <Filter {...{ entries, revision, type, setType, search, setSearch }} />
      <div
        className="event-list-box"
        ref={box}
        role="listbox"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={at >= 0 ? `event-${label}-${at}` : undefined}
      >
        <div className="event-list-all" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index: row, start }) => {
            const index = shown?.[row] ?? row
            const entry = entries[index]
            if (!entry) return null
            const faults = verdict?.byEvent.get(index)
            return (
              <div
                key={index}
                id={`event-${label}-${row}`}
                role="option"
                aria-selected={index === current}
                aria-setsize={entries.length}
                aria-posinset={index + 1}
                className="event-row"
                data-group={groupOf(entry)}
                data-later={index > current}
                data-marked={index === marked}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => onSelect(index)}
              >
                <span className="event-row-number">{index + 1}</span>
                <span className="event-row-type">{typeOf(entry.event) ?? texts.insNotJson}</span>
                <span className="event-row-text">{summaryOf(entry)}</span>
                {faults && (
                  <span className="event-row-fault" title={faults.map(({ message }) => message).join('\n')}>
                    {texts.insFault}
                  </span>
                )}
                <span className="event-row-time">{timeOf(index)}</span>
              </div>
            )
          })}
        </div>
        {(shown?.length ?? entries.length) === 0 && (
          <p className="muted small event-list-none">
            {entries.length === 0 ? texts.insNoEvents : texts.nothingFound}
          </p>
        )}
      </div>
    </section>
  )
}

interface FilterProps {
  readonly entries: readonly RunEntry[]
  readonly revision: number
  readonly type: string
  readonly setType: (type: string) => void
  readonly search: string
  readonly setSearch: (search: string) => void
}

function Filter({ entries, revision, type, setType, search, setSearch }: FilterProps): ReactNode {
  const texts = useTexts()
  const types = useMemo(() => {
    const counts = new Map<string, number>()
    for (const { event } of entries) {
      const name = typeOf(event)
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  }, [entries, revision])
  return (
    <div className="event-filter">
      <select
        className="field"
        aria-label={texts.insType}
        value={type}
        onChange={(event) => setType(event.target.value)}
      >
        <option value="">{texts.insAllTypes}</option>
        {types.map(([name, count]) => (
          <option key={name} value={name}>
            {name} ({count})
          </option>
        ))}
      </select>
      <input
        className="field"
        type="search"
        aria-label={texts.insSearch}
        placeholder={texts.insSearch}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
    </div>
  )
}

/** The texts of events, made when they are first searched. */
const searchTexts = new WeakMap<RunEntry, string>()

/** Indices of the events that match. Undefined: all do. */
function useShown(
  entries: readonly RunEntry[],
  revision: number,
  { type, search }: { readonly type: string; readonly search: string },
): readonly number[] | undefined {
  return useMemo(() => {
    if (type === '' && search === '') return undefined
    const query = { type, search: search.toLowerCase(), texts: searchTexts }
    return entries.flatMap((entry, index) => (matches(entry, query) ? [index] : []))
  }, [entries, revision, type, search])
}

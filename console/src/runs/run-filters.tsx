import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { formatDuration } from '../ui/duration.js'
import type { RunSummary } from '../session/contract.js'
import type { RunFilter } from './filter-runs.js'
import { runStatuses, statusText } from './run-status.js'

const durations = [1_000, 10_000, 60_000, 300_000]

interface RunFiltersProps {
  readonly runs: readonly RunSummary[]
  readonly filter: RunFilter
  readonly showsUsers: boolean
  readonly onChange: (filter: RunFilter) => void
}

/** What to show of the list. Only values that occur are offered. */
export function RunFilters({ runs, filter, showsUsers, onChange }: RunFiltersProps): ReactNode {
  const texts = useTexts()
  const set = (change: Partial<RunFilter>): void => onChange({ ...filter, ...change })
  const statuses = runStatuses.filter((status) => valuesOf(runs, 'status', filter.status).includes(status))
  return (
    <div className="runs-filters" role="search">
      <input
        className="field runs-search"
        type="search"
        aria-label={texts.runsSearch}
        placeholder={texts.runsSearch}
        value={filter.search}
        onChange={(event) => set({ search: event.target.value })}
      />
      <Choice
        label={texts.runsStatus}
        any={texts.anyStatus}
        value={filter.status}
        options={statuses.map((status) => [status, statusText(status, texts)])}
        onChange={(status) => set({ status })}
      />
      <Choice
        label={texts.agent}
        any={texts.anyAgent}
        value={filter.agent}
        options={valuesOf(runs, 'agent', filter.agent).map((name) => [name, name])}
        onChange={(agent) => set({ agent })}
      />
      {showsUsers && (
        <Choice
          label={texts.runsUser}
          any={texts.anyUser}
          value={filter.user}
          options={valuesOf(runs, 'user', filter.user).map((name) => [name, name])}
          onChange={(user) => set({ user })}
        />
      )}
      <Choice
        label={texts.runsDuration}
        any={texts.anyDuration}
        value={filter.longerThanMs === 0 ? '' : String(filter.longerThanMs)}
        options={durations.map((ms) => [String(ms), texts.longerThan(formatDuration(ms))])}
        onChange={(ms) => set({ longerThanMs: Number(ms) })}
      />
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly any: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
}

function Choice({ label, any, value, options, onChange }: ChoiceProps): ReactNode {
  return (
    <select
      className="field runs-choice"
      aria-label={label}
      value={value}
      data-set={value !== ''}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{any}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** The values that occur, and the one that is chosen. */
function valuesOf(
  runs: readonly RunSummary[],
  name: 'status' | 'agent' | 'user',
  chosen: string,
): readonly string[] {
  const values = new Set(runs.map((run) => run[name]))
  if (chosen !== '') values.add(chosen)
  return [...values].sort()
}

import { useCallback, useMemo, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Tabs } from '../ui/tabs.js'
import { Actions } from './actions/actions.js'
import { CompareView } from './compare-view.js'
import { Details } from './details/details.js'
import { EventList } from './event-list.js'
import { formatMs } from './event-text.js'
import { buildTimeline } from './model/timeline.js'
import { nameOfSource } from './source/source-name.js'
import type { RunRecord } from './source/run-record.js'
import { useLint } from './source/use-lint.js'
import { useRevision, useRun } from './source/use-run.js'
import { Transport } from './timeline/transport.js'
import { Waterfall } from './timeline/waterfall.js'
import { useNarrow } from './use-narrow.js'
import './run-view.css'

interface RunViewProps {
  readonly record: RunRecord
  /** How many events have been applied. Undefined: all of them, also those to come. */
  readonly position: number | undefined
  readonly onMove: (position: number) => void
  readonly beside: string | undefined
  readonly onBeside: (source: string | undefined) => void
}

/** One run, with everything that is known of it at one event. */
export function RunView({ record, position, onMove, beside, onBeside }: RunViewProps): ReactNode {
  const texts = useTexts()
  const revision = useRevision(record)
  const { entries, head } = record
  const verdict = useLint(record, record.isLive)
  const timeline = useMemo(
    () => buildTimeline(entries, head.agent ?? texts.agent),
    [entries, head.agent, revision, texts],
  )
  const at = Math.max(0, Math.min(position ?? entries.length, entries.length))
  const index = at - 1
  const select = useCallback((chosen: number) => onMove(chosen + 1), [onMove])
  const label = `${at} / ${entries.length}${timeline.unit === 'ms' && at > 0 ? ` · +${formatMs(timeline.timeOf(index))}` : ''}`
  const timeOf = (row: number): string => (timeline.unit === 'ms' ? formatMs(timeline.timeOf(row)) : '')
  const list = (
    <EventList
      {...{ entries, revision, verdict, timeOf }}
      current={index}
      onSelect={select}
      label={texts.insEvents}
    />
  )
  const details = <Details {...{ record, revision, index, verdict }} onSelect={select} />
  return (
    <div className="run-view">
      <Head record={record} faults={verdict?.all.length}>
        <Actions {...{ record, index, verdict }} onCompare={onBeside} />
      </Head>
      {record.failure && (
        <div className="run-failure" role="alert">
          <b>{texts[record.failure.key]}</b>
          <pre>{record.failure.detail}</pre>
        </div>
      )}
      {head.isCut && (
        <p className="run-failure" role="alert">
          {texts.insCut}
        </p>
      )}
      <Waterfall timeline={timeline} current={index} onSelect={select} />
      <Transport count={entries.length} position={at} onMove={onMove} label={label} />
      {beside === undefined ? (
        <Panes list={list} details={details} />
      ) : (
        <Beside
          record={record}
          source={beside}
          index={index}
          onSelect={select}
          onClose={() => onBeside(undefined)}
        />
      )}
    </div>
  )
}

interface HeadProps {
  readonly record: RunRecord
  readonly faults: number | undefined
  readonly children: ReactNode
}

function Head({ record, faults, children }: HeadProps): ReactNode {
  const texts = useTexts()
  const { head, source, isLive } = record
  return (
    <header className="run-head">
      <h1 className="run-name" title={nameOfSource(source)}>
        {nameOfSource(source)}
      </h1>
      <span
        className={`badge ${isLive ? 'badge-accent' : head.status === 'failed' ? 'badge-bad' : ''}`}
        role="status"
      >
        {isLive ? texts.insLive : head.status}
      </span>
      {isLive && record.request && (
        <button className="button" onClick={() => record.stop()}>
          {texts.stop}
        </button>
      )}
      {faults !== undefined && (
        <span className={`badge ${faults === 0 ? 'badge-good' : 'badge-bad'}`}>
          {faults === 0 ? texts.insValid : texts.insFaults(faults)}
        </span>
      )}
      {children}
    </header>
  )
}

interface PanesProps {
  readonly list: ReactNode
  readonly details: ReactNode
}

/** List and details: beside each other, or as tabs where there is no room. */
function Panes({ list, details }: PanesProps): ReactNode {
  const texts = useTexts()
  const [pane, setPane] = useState<'list' | 'details'>('list')
  if (!useNarrow())
    return (
      <div className="panes">
        {list}
        <div className="panes-details">{details}</div>
      </div>
    )
  return (
    <Tabs
      label={texts.insPanes}
      current={pane}
      onChange={setPane}
      tabs={[
        { key: 'list', label: texts.insEvents },
        { key: 'details', label: texts.insDetails },
      ]}
    >
      <div className="panes-one">{pane === 'list' ? list : details}</div>
    </Tabs>
  )
}

interface BesideProps {
  readonly record: RunRecord
  readonly source: string
  readonly index: number
  readonly onSelect: (index: number) => void
  readonly onClose: () => void
}

function Beside({ record, source, index, onSelect, onClose }: BesideProps): ReactNode {
  const texts = useTexts()
  const loaded = useRun(source)
  if (loaded.kind === 'run')
    return <CompareView left={record} right={loaded.record} {...{ index, onSelect, onClose }} />
  return (
    <div className="run-failure" role="status">
      <b>{loaded.kind === 'loading' ? texts.loading : texts.insFileGone(nameOfSource(source))}</b>
      {loaded.kind !== 'loading' && (
        <button className="button" onClick={onClose}>
          {texts.insEndCompare}
        </button>
      )}
    </div>
  )
}

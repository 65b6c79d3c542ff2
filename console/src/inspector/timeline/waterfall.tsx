import { memo, useMemo, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { formatMs } from '../event-text.js'
import type { Lane, Span, Timeline } from '../model/timeline.js'
import { visibleSpans } from './visible-spans.js'
import './waterfall.css'

interface WaterfallProps {
  readonly timeline: Timeline
  /** The index of the current event. */
  readonly current: number
  readonly onSelect: (index: number) => void
}

/** What went on when: a lane for the agent and for each subagent, rows for what went on at once. */
export function Waterfall({ timeline, current, onSelect }: WaterfallProps): ReactNode {
  const texts = useTexts()
  const [told, setTold] = useState<Span>()
  const spans = useMemo(
    () => timeline.lanes.flatMap((lane) => visibleSpans(lane, timeline.length)),
    [timeline],
  )
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    const isChosen = (event.key === 'Enter' || event.key === ' ') && told !== undefined
    if (step === undefined && !isChosen) return
    event.preventDefault()
    event.stopPropagation()
    if (isChosen) return onSelect(told.first)
    const next =
      spans[Math.max(0, Math.min(spans.length - 1, (told ? spans.indexOf(told) : -1) + (step ?? 0)))]
    setTold(next)
  }
  const cursor = position(timeline.timeOf(Math.max(0, current)), timeline.length)
  return (
    <section className="waterfall" aria-label={texts.insTimeline}>
      <div
        className="waterfall-lanes"
        role="group"
        tabIndex={0}
        aria-label={texts.insTimelineKeys}
        onKeyDown={move}
      >
        {timeline.lanes.map((lane) => (
          <LaneRow
            key={lane.id}
            lane={lane}
            timeline={timeline}
            told={told}
            onTell={setTold}
            onSelect={onSelect}
          />
        ))}
        <div className="waterfall-cursor" aria-hidden="true">
          <i style={{ left: `${cursor}%` }} />
        </div>
      </div>
      <p className="waterfall-told tiny muted" aria-live="polite">
        {told ? <Told span={told} timeline={timeline} /> : <Overview timeline={timeline} />}
      </p>
    </section>
  )
}

const rowHeight = 14

interface LaneRowProps extends Omit<WaterfallProps, 'current'> {
  readonly lane: Lane
  readonly told: Span | undefined
  readonly onTell: (span: Span | undefined) => void
}

const LaneRow = memo(function LaneRow({ lane, timeline, told, onTell, onSelect }: LaneRowProps): ReactNode {
  const spans = visibleSpans(lane, timeline.length)
  const spanAt = (event: PointerEvent | React.MouseEvent): Span | undefined => {
    const number = event.target instanceof Element ? event.target.getAttribute('data-span') : null
    return number === null ? undefined : spans[Number(number)]
  }
  return (
    <div className="waterfall-lane">
      <span className="waterfall-name" style={{ paddingLeft: lane.depth * 10 }} title={lane.name}>
        {lane.name}
      </span>
      <svg
        className="waterfall-bars"
        height={lane.rows * rowHeight}
        aria-hidden="true"
        onPointerMove={(event) => onTell(spanAt(event))}
        onPointerLeave={() => onTell(undefined)}
        onClick={(event) => {
          const span = spanAt(event)
          if (span) onSelect(span.first)
        }}
      >
        {timeline.gaps.map(({ from, to, index }) => (
          <rect
            key={index}
            className="waterfall-gap"
            x={`${position(from, timeline.length)}%`}
            width={`${position(to - from, timeline.length)}%`}
            y={0}
            height="100%"
          />
        ))}
        {spans.map((span, number) => (
          <rect
            key={span.first}
            className="waterfall-bar"
            data-span={number}
            data-kind={span.kind}
            data-failed={span.hasFailed}
            data-open={span.isOpen}
            data-told={span === told}
            style={{
              x: `min(${position(span.from, timeline.length)}%, 100% - 3px)`,
              width: `max(3px, ${position(span.to - span.from, timeline.length)}%)`,
            }}
            y={span.row * rowHeight + 2}
            height={rowHeight - 4}
            rx={2}
          />
        ))}
      </svg>
    </div>
  )
})

function Told({ span, timeline }: { readonly span: Span; readonly timeline: Timeline }): ReactNode {
  const texts = useTexts()
  const isTimed = timeline.unit === 'ms'
  const length = isTimed ? formatMs(span.to - span.from) : texts.insEventCount(span.last - span.first + 1)
  const wait =
    isTimed && span.firstDelta !== undefined ? texts.insFirstDelta(formatMs(span.firstDelta - span.from)) : ''
  return (
    <>
      <b>{[texts.insKinds(span.kind), span.label].filter(Boolean).join(' ')}</b>
      {' · '}
      {texts.insSpan(isTimed ? `+${formatMs(span.from)}` : `#${span.first + 1}`, length)}
      {wait && ` · ${wait}`}
      {span.isOpen && ` · ${texts.insOpen}`}
      {span.hasFailed && ` · ${texts.insFailed}`}
    </>
  )
}

function Overview({ timeline }: { readonly timeline: Timeline }): ReactNode {
  const texts = useTexts()
  const { unit, length, firstToken, gaps } = timeline
  if (unit === 'events') return texts.insNoTimes
  const longest = gaps.reduce((most, { from, to }) => Math.max(most, to - from), 0)
  return [
    texts.insTook(formatMs(length)),
    ...(firstToken === undefined ? [] : [texts.insFirstToken(formatMs(firstToken))]),
    ...(longest === 0 ? [] : [texts.insGaps(gaps.length, formatMs(longest))]),
  ].join(' · ')
}

function position(time: number, length: number): number {
  return length === 0 ? 0 : Math.round((time / length) * 1e5) / 1e3
}

import { useId, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import type { ChartData } from './chart-data.js'
import { niceTicks } from './ticks.js'
import './chart.css'

const size = { width: 640, height: 260, left: 52, right: 12, top: 12, bottom: 30 }
const inner = {
  width: size.width - size.left - size.right,
  height: size.height - size.top - size.bottom,
}

/** A chart of data that an agent has sent, drawn as SVG. The same numbers stand in a table for those who do not see it. */
export function Chart({ chart }: { readonly chart: ChartData }): ReactNode {
  const texts = useTexts()
  const titleId = useId()
  const { title, kind, labels, series } = chart
  const ticks = niceTicks(series.flatMap(({ values }) => values))
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)]
  const y = (value: number): number => size.top + inner.height * (1 - (value - low) / (high - low))
  const band = inner.width / labels.length
  const every = Math.ceil(labels.length / 10)
  return (
    <figure className="chart card" aria-labelledby={titleId}>
      <figcaption id={titleId} className="chart-title">
        {title === '' ? texts.chart : title}
      </figcaption>
      <svg viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-labelledby={titleId}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line
              className="chart-grid"
              x1={size.left}
              x2={size.width - size.right}
              y1={y(tick)}
              y2={y(tick)}
            />
            <text className="chart-tick" x={size.left - 8} y={y(tick) + 4} textAnchor="end">
              {tick.toLocaleString()}
            </text>
          </g>
        ))}
        {labels.map((label, index) =>
          index % every === 0 ? (
            <text
              key={index}
              className="chart-tick"
              x={size.left + band * (index + 0.5)}
              y={size.height - 10}
              textAnchor="middle"
            >
              {label.length > 12 ? `${label.slice(0, 11)}…` : label}
            </text>
          ) : null,
        )}
        {series.map(({ values }, index) =>
          kind === 'line' ? (
            <Line key={index} values={values} index={index} x={(at) => size.left + band * (at + 0.5)} y={y} />
          ) : (
            <Bars key={index} values={values} index={index} count={series.length} band={band} y={y} />
          ),
        )}
      </svg>
      {series.length > 1 && (
        <ul className="plain chart-legend tiny">
          {series.map(({ name }, index) => (
            <li key={index}>
              <span className={`chart-swatch chart-colour-${index}`} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <DataTable chart={chart} />
    </figure>
  )
}

interface LineProps {
  readonly values: readonly number[]
  readonly index: number
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

function Line({ values, index, x, y }: LineProps): ReactNode {
  return (
    <g className={`chart-colour-${index}`}>
      <polyline className="chart-line" points={values.map((value, at) => `${x(at)},${y(value)}`).join(' ')} />
      {values.length <= 60 && values.map((value, at) => <circle key={at} cx={x(at)} cy={y(value)} r="3" />)}
    </g>
  )
}

interface BarsProps {
  readonly values: readonly number[]
  readonly index: number
  readonly count: number
  readonly band: number
  readonly y: (value: number) => number
}

function Bars({ values, index, count, band, y }: BarsProps): ReactNode {
  const width = Math.min(56, (band * 0.7) / count)
  const start = (band - width * count) / 2
  return (
    <g className={`chart-colour-${index}`}>
      {values.map((value, at) => (
        <rect
          key={at}
          x={size.left + band * at + start + width * index}
          y={Math.min(y(0), y(value))}
          width={Math.max(1, width - 2)}
          height={Math.abs(y(value) - y(0))}
          rx="2"
        />
      ))}
    </g>
  )
}

function DataTable({ chart: { labels, series } }: { readonly chart: ChartData }): ReactNode {
  return (
    <table className="visually-hidden">
      <thead>
        <tr>
          <td />
          {series.map(({ name }, index) => (
            <th key={index} scope="col">
              {name === '' ? index + 1 : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {labels.map((label, at) => (
          <tr key={at}>
            <th scope="row">{label}</th>
            {series.map(({ values }, index) => (
              <td key={index}>{values[at]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

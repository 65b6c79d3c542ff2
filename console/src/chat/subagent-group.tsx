import { memo } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Fold } from '../ui/fold.js'
import { useFold } from './folds.js'
import { tookOf } from './took.js'
import { RowView } from './row-view.js'
import type { Row, SubagentRow } from './rows.js'
import './subagent-group.css'

/** The work of a subagent: its name, what has become of it, and inside what it said and did. */
export const SubagentGroup = memo(({ row }: { readonly row: SubagentRow }) => {
  const texts = useTexts()
  const { name, subagent, rows, span } = row
  const status = subagent?.status ?? 'finished'
  const isRunning = status === 'running'
  const [isOpen, toggle] = useFold(row.key, isRunning)
  const took = tookOf(span)
  const calls = rows.filter(({ kind }) => kind === 'call')
  const over = calls.filter((call) => call.kind === 'call' && call.result !== undefined)
  const done = calls.length > 0 ? texts.toolsDone(over.length, calls.length) : ''
  // Closed, it still says what the subagent has found out.
  const about = isOpen || lastWords(rows) === '' ? done : lastWords(rows)
  return (
    <Fold
      className="subagent card"
      isOpen={isOpen}
      onToggle={toggle}
      head={
        <>
          <span className={`subagent-dot subagent-${status}`} aria-hidden="true" />
          <span className="subagent-name">{name === '' ? texts.subagent : name}</span>
          <span className="muted tiny subagent-about">{about}</span>
          <span className={`badge ${badges[status]} ${isRunning ? 'is-at-work' : ''}`}>
            {took !== undefined && status === 'finished' ? took : texts[statusTexts[status]]}
          </span>
        </>
      }
    >
      <div className="subagent-rows">
        {rows.map((inner) => (
          <RowView key={inner.key} row={inner} />
        ))}
        {subagent?.error !== undefined && <p className="small tool-error">{subagent.error}</p>}
      </div>
    </Fold>
  )
})

const statusTexts = {
  running: 'statusRunning',
  finished: 'done',
  suspended: 'statusInterrupted',
  failed: 'failed',
} as const

const badges = { running: '', finished: 'badge-good', suspended: 'badge-warn', failed: 'badge-bad' }

function lastWords(rows: readonly Row[]): string {
  const last = rows.findLast(({ kind }) => kind === 'text')
  const content = last?.kind === 'text' ? last.message.content : undefined
  return typeof content === 'string' ? content.slice(0, 120) : ''
}

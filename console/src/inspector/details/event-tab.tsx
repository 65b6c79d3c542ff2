import type { ReactNode } from 'react'
import { createSseEncoder, type AgUiEvent } from 'millrace/protocol'
import { useTexts } from '../../i18n/use-texts.js'
import { JsonTree } from '../../ui/json-tree.js'
import { typeOf } from '../model/json.js'
import type { RunRecord } from '../source/run-record.js'
import type { LintVerdict } from '../source/use-lint.js'

interface EventTabProps {
  readonly record: RunRecord
  readonly index: number
  readonly verdict: LintVerdict | undefined
  readonly onSelect: (index: number) => void
}

/** The event as it came, and what the linter says of it. */
export function EventTab({ record, index, verdict, onSelect }: EventTabProps): ReactNode {
  const texts = useTexts()
  const entry = record.entries[index]
  if (!entry)
    return (
      <div className="details-section">
        <p className="muted small">{texts.insBefore}</p>
        <Verdict verdict={verdict} index={-1} isLive={record.isLive} />
        {verdict && <FaultList verdict={verdict} onSelect={onSelect} />}
      </div>
    )
  const problem = record.travel.problemAt(index)
  return (
    <>
      <section className="details-section" aria-label={texts.insVerdict}>
        <Verdict verdict={verdict} index={index} isLive={record.isLive} />
        {problem !== undefined && (
          <p className="small">
            {texts.insClientSays} <code>{problem}</code>
          </p>
        )}
        {verdict && index === record.entries.length - 1 && (
          <FaultList verdict={verdict} onSelect={onSelect} />
        )}
      </section>
      {entry.event !== undefined && (
        <section className="details-section" aria-label="JSON">
          <h3>JSON</h3>
          <JsonTree key={index} value={entry.event} depth={3} />
        </section>
      )}
      <section className="details-section" aria-label={texts.insFrame}>
        <h3>{texts.insFrame}</h3>
        <pre className="details-pre">{entry.raw ?? frameOf(record, index)}</pre>
      </section>
    </>
  )
}

interface VerdictProps {
  readonly verdict: LintVerdict | undefined
  readonly index: number
  readonly isLive: boolean
}

function Verdict({ verdict, index, isLive }: VerdictProps): ReactNode {
  const texts = useTexts()
  if (!verdict) return <p className="muted small">{isLive ? texts.insLintLater : texts.insLinting}</p>
  const faults = verdict.byEvent.get(index) ?? []
  if (faults.length === 0)
    return (
      <p>
        <span className="badge badge-good">{texts.insValid}</span>
      </p>
    )
  return faults.map(({ rule, message }) => (
    <p key={rule + message} className="details-fault">
      <code>{rule}</code> {message}
    </p>
  ))
}

/** All faults of the stream, at its end and before its beginning. */
function FaultList({
  verdict,
  onSelect,
}: Pick<EventTabProps, 'onSelect'> & { readonly verdict: LintVerdict }): ReactNode {
  const texts = useTexts()
  if (verdict.all.length === 0) return null
  return (
    <details className="small">
      <summary>{texts.insFaults(verdict.all.length)}</summary>
      <ul>
        {verdict.all.map(({ rule, message, index }, number) => (
          <li key={number}>
            {index === undefined ? (
              `${rule}: ${message}`
            ) : (
              <button className="details-link" onClick={() => onSelect(index)}>
                {`#${index + 1} ${rule}: ${message}`}
              </button>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** The frame as the server writes it. */
function frameOf({ head, entries }: RunRecord, index: number): string {
  const entry = entries[index]
  if (typeOf(entry?.event) === undefined) return JSON.stringify(entry?.event)
  return createSseEncoder(head.runId)(entry?.event as AgUiEvent, entry?.seq ?? index).trimEnd()
}

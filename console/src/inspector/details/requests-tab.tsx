import type { ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { JsonTree } from '../../ui/json-tree.js'
import { formatMs } from '../event-text.js'
import { isRecord, textOf } from '../model/json.js'
import type { ModelRequest } from '../model/run-file.js'
import type { RunRecord } from '../source/run-record.js'

/** What the models were asked, with the tools they were offered. The request under way at the event is open. */
export function RequestsTab({
  record,
  index,
}: {
  readonly record: RunRecord
  readonly index: number
}): ReactNode {
  const texts = useTexts()
  const { requests } = record.head
  const at = record.entries[index]?.at
  if (requests.length === 0) return <p className="details-section muted small">{texts.insNoRequests}</p>
  const current = at === undefined ? 0 : requests.findLastIndex((request) => (request.at ?? Infinity) <= at)
  return requests.map((request, number) => (
    <details key={number} className="details-section" open={number === Math.max(0, current)}>
      <summary className="small">
        <b>{request.model ?? '–'}</b> {request.agent} {timeOf(request)}
        {request.error !== undefined && <span className="badge badge-bad">{texts.insFailed}</span>}
      </summary>
      <Tools tools={request.tools} />
      <Part title={texts.insMessages} value={request.messages} />
      <Part title={texts.insSettings} value={restOf(request)} />
    </details>
  ))
}

function Tools({ tools }: { readonly tools: unknown }): ReactNode {
  const texts = useTexts()
  const list: readonly unknown[] = Array.isArray(tools) ? tools : []
  return (
    <section aria-label={texts.insTools}>
      <h3>
        {texts.insTools} <span className="badge">{list.length}</span>
      </h3>
      {list.map((tool, number) => (
        <details key={number} className="small">
          <summary>
            <code>{textOf(tool, 'name') ?? JSON.stringify(tool)}</code>{' '}
            <span className="muted">{textOf(tool, 'description')}</span>
          </summary>
          <JsonTree value={isRecord(tool) ? (tool.parameters ?? tool.inputSchema ?? tool) : tool} depth={3} />
        </details>
      ))}
    </section>
  )
}

function Part({ title, value }: { readonly title: string; readonly value: unknown }): ReactNode {
  if (value === undefined) return null
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <JsonTree value={value} depth={2} />
    </section>
  )
}

function timeOf({ at, endedAt }: ModelRequest): string {
  return at === undefined || endedAt === undefined ? '' : `· ${formatMs(endedAt - at)}`
}

function restOf(request: ModelRequest): object | undefined {
  const {
    at: _at,
    endedAt: _end,
    agent: _agent,
    model: _model,
    messages: _messages,
    tools: _tools,
    ...rest
  } = request
  return Object.keys(rest).length === 0 ? undefined : rest
}

import type { ReactNode } from 'react'
import { language, useTexts } from '../i18n/use-texts.js'
import { hrefOf } from '../router.js'
import { asUser } from '../session/as-user.js'
import type { RunSummary } from '../session/contract.js'
import { hrefOfRun } from '../inspector/links.js'
import { useApi } from '../session/use-api.js'
import { formatDuration } from '../ui/duration.js'
import { Icon } from '../ui/icon.js'
import { durationOf } from './filter-runs.js'
import { formatCount, formatTime } from './format.js'
import { statusBadge, statusText } from './run-status.js'

interface RunRowProps {
  readonly run: RunSummary
  readonly now: number
  readonly showsUser: boolean
  readonly onCancel: (run: RunSummary) => void
}

/** The cells of one run. */
export function RunRow({ run, now, showsUser, onCancel }: RunRowProps): ReactNode {
  const texts = useTexts()
  const { agent, user, threadId, status, error, events } = run
  const name = run.title === undefined || run.title === '' ? threadId : run.title
  return (
    <>
      <span role="cell" className="run-status">
        <span className={statusBadge(status)} data-status={status}>
          {statusText(status, texts)}
        </span>
      </span>
      <span role="cell" className="run-name">
        <OpenLink run={run} to="chat" className="run-title" title={name}>
          {name}
        </OpenLink>
        <span className="run-about tiny muted">
          {agent}
          {error && (
            <span className="run-error" title={error.message}>
              {' '}
              · {error.message}
            </span>
          )}
        </span>
      </span>
      {showsUser && (
        <span role="cell" className="run-user" title={user}>
          {user}
        </span>
      )}
      <span role="cell" className="run-started">
        <time dateTime={new Date(run.startedAt).toISOString()}>
          {formatTime(run.startedAt, now, language.use())}
        </time>
      </span>
      <span role="cell" className="run-duration">
        {formatDuration(durationOf(run, now))}
      </span>
      <Tokens run={run} />
      <span role="cell" className="run-events">
        {formatCount(events)}
      </span>
      <span role="cell" className="run-actions">
        <OpenLink run={run} to="inspect" className="button button-icon" label={texts.openInInspector}>
          <Icon name="inspect" />
        </OpenLink>
        <OpenLink run={run} to="chat" className="button button-icon" label={texts.openInChat}>
          <Icon name="chat" />
        </OpenLink>
        {status === 'running' && (
          <button
            className="button button-icon button-danger"
            aria-label={texts.cancelRun}
            title={texts.cancelRun}
            onClick={() => onCancel(run)}
          >
            <Icon name="stop" />
          </button>
        )}
      </span>
    </>
  )
}

function Tokens({ run: { inputTokens, outputTokens } }: { readonly run: RunSummary }): ReactNode {
  const texts = useTexts()
  if (inputTokens === undefined && outputTokens === undefined)
    return (
      <span role="cell" className="run-tokens muted">
        –
      </span>
    )
  const [input, output] = [formatCount(inputTokens ?? 0), formatCount(outputTokens ?? 0)]
  return (
    <span role="cell" className="run-tokens" title={texts.tokensInOut(input, output)}>
      <span aria-hidden="true">
        {input}↑ {output}↓
      </span>
      <span className="visually-hidden">{texts.tokensInOut(input, output)}</span>
    </span>
  )
}

interface OpenLinkProps {
  readonly run: RunSummary
  readonly to: 'chat' | 'inspect'
  readonly className: string
  readonly title?: string
  readonly label?: string
  readonly children: ReactNode
}

/** Leads to the run. For the run of another user, the operator looks on as that user. */
function OpenLink({ run, to, className, title, label, children }: OpenLinkProps): ReactNode {
  const { session } = useApi()
  const { agent, threadId, runId, user } = run
  return (
    <a
      className={className}
      href={to === 'chat' ? hrefOf({ page: 'chat', agent, threadId }) : hrefOfRun(agent, threadId, runId)}
      title={title ?? label}
      aria-label={label}
      onClick={() => {
        if (user !== session.user) asUser.set(user)
      }}
    >
      {children}
    </a>
  )
}

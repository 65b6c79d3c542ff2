import { useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { useApi } from '../../session/use-api.js'
import { startElsewhere } from '../actions/start-run.js'
import { isRecord } from '../model/json.js'

/** Asks for an AG-UI endpoint and what to send to it. Nothing of it is kept but in the memory of the page. */
export function UrlForm({ initialUrl = '' }: { readonly initialUrl?: string }): ReactNode {
  const texts = useTexts()
  const api = useApi()
  const [url, setUrl] = useState(initialUrl)
  const [headers, setHeaders] = useState('')
  const [message, setMessage] = useState('')
  const [dialect, setDialect] = useState<'1.0' | 'older'>('1.0')
  const [body, setBody] = useState<string>()
  const [error, setError] = useState('')
  const shownBody = body ?? JSON.stringify(inputOf(message, dialect), undefined, 2)
  const send = (): void => {
    const input = parseBody(body) ?? inputOf(message, dialect)
    if (body !== undefined && !parseBody(body)) setError(texts.insBadBody)
    else startElsewhere(api, { url: url.trim(), headers: parseHeaders(headers) }, withIds(input))
  }
  return (
    <form
      className="url-form"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label className="small">
        {texts.insUrl}
        <input
          className="field"
          type="url"
          required
          placeholder="https://example.org/agent"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </label>
      <label className="small">
        {texts.message}
        <textarea
          className="field"
          rows={2}
          value={message}
          disabled={body !== undefined}
          onChange={(event) => setMessage(event.target.value)}
        />
      </label>
      <details>
        <summary className="small">{texts.insMoreFields}</summary>
        <div className="url-form-more">
          <label className="small">
            {texts.insHeaders}
            <textarea
              className="field mono"
              rows={2}
              placeholder="authorization: Bearer …"
              value={headers}
              onChange={(event) => setHeaders(event.target.value)}
            />
          </label>
          <label className="small">
            {texts.insDialect}
            <select
              className="field"
              value={dialect}
              onChange={(event) => setDialect(event.target.value === 'older' ? 'older' : '1.0')}
            >
              <option value="1.0">AG-UI 1.0</option>
              <option value="older">{texts.insOlder}</option>
            </select>
          </label>
          <label className="small">
            {texts.insBody}
            <textarea
              className="field mono"
              rows={8}
              spellCheck={false}
              value={shownBody}
              onChange={(event) => setBody(event.target.value)}
            />
          </label>
        </div>
      </details>
      {error !== '' && (
        <p className="details-fault" role="alert">
          {error}
        </p>
      )}
      {!api.session.foreign && <p className="muted tiny">{texts.insForeignOff}</p>}
      <button className="button button-primary">{texts.insOpenUrl}</button>
    </form>
  )
}

/** Producers before 1.0 insist on all of these members; some refuse others. */
function inputOf(message: string, dialect: '1.0' | 'older'): Record<string, unknown> {
  return {
    ...{ threadId: '', runId: '' },
    ...(dialect === '1.0' ? { protocolVersion: '1.0' } : {}),
    messages: [{ id: 'message-1', role: 'user', content: message }],
    ...{ tools: [], context: [], state: {}, forwardedProps: {} },
  }
}

/** Each run gets ids of its own, unless the person wrote some. */
function withIds(input: Record<string, unknown>): Record<string, unknown> {
  const { threadId, runId } = input
  return {
    ...input,
    threadId: isText(threadId) ? threadId : crypto.randomUUID(),
    runId: isText(runId) ? runId : crypto.randomUUID(),
  }
}

function parseBody(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** One `name: value` on each line. */
function parseHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const colon = line.indexOf(':')
    return colon <= 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const]
  })
  return Object.fromEntries(lines)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

import { lazy, Suspense, useMemo, useSyncExternalStore, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { toChart } from './chart/chart-data.js'
import { useChat } from './chat-context.js'
import type { CallRow } from './rows.js'

const Chart = lazy(async () => ({ default: (await import('./chart/chart.js')).Chart }))

/** What a call of one of the page's own tools shows below its card: a chart, or a question to the person. */
export function CallWidget({ row }: { readonly row: CallRow }): ReactNode {
  const { id, function: called } = row.call
  if (/chart/i.test(called.name))
    return <CallChart args={called.arguments} isFailed={row.result?.error !== undefined} />
  return called.name === 'get_location' ? <LocationConsent toolCallId={id} /> : null
}

function CallChart({ args, isFailed }: { readonly args: string; readonly isFailed: boolean }): ReactNode {
  const chart = useMemo(() => chartIn(args), [args])
  if (!chart || isFailed) return null
  return (
    <Suspense>
      <div className="call-widget">
        <Chart chart={chart} />
      </div>
    </Suspense>
  )
}

function chartIn(args: string): ReturnType<typeof toChart> {
  try {
    return toChart(JSON.parse(args))
  } catch {
    // It is still being written.
    return undefined
  }
}

function LocationConsent({ toolCallId }: { readonly toolCallId: string }): ReactNode {
  const texts = useTexts()
  const { consents } = useChat()
  const waiting = useSyncExternalStore(consents.subscribe, consents.getSnapshot)
  if (!waiting.has(toolCallId)) return null
  return (
    <section className="interrupt card call-widget" aria-label={texts.locationTitle} role="group">
      <h3 className="interrupt-title">{texts.locationTitle}</h3>
      <p className="small muted">{texts.locationHelp}</p>
      <div className="interrupt-actions">
        <button
          type="button"
          className="button button-primary"
          onClick={() => consents.answer(toolCallId, true)}
        >
          {texts.share}
        </button>
        <button type="button" className="button" onClick={() => consents.answer(toolCallId, false)}>
          {texts.refuse}
        </button>
      </div>
    </section>
  )
}

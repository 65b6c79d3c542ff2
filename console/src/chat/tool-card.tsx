import { memo, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Fold } from '../ui/fold.js'
import { Icon } from '../ui/icon.js'
import { JsonText } from '../ui/json-text.js'
import { ContentView } from './content-view.js'
import { useFold } from './folds.js'
import { Progress } from './progress.js'
import type { CallRow } from './rows.js'
import { summaryOf } from './summary.js'
import { tookOf } from './took.js'
import { CallWidget } from './call-widget.js'
import './tool-card.css'

/** A tool call: its arguments as they come, its progress, its result or its error. Folded when it is over. */
export const ToolCard = memo(({ row }: { readonly row: CallRow }) => {
  const texts = useTexts()
  const { call, result, progress, span } = row
  const { name, arguments: args } = call.function
  const isOver = result !== undefined
  const isLive = !isOver && span !== undefined
  const [isOpen, toggle] = useFold(row.key, isLive)
  const error = result?.error
  return (
    <>
      <Fold
        className={`tool-card card ${error === undefined ? '' : 'tool-card-failed'}`}
        isOpen={isOpen}
        onToggle={toggle}
        head={
          <>
            <Icon name={error === undefined ? 'tool' : 'warn'} size={15} />
            <span className="mono tool-name">{name}</span>
            <span className="muted tool-summary">{isOpen ? '' : summaryOf(args)}</span>
            <CallStatus row={row} />
          </>
        }
      >
        <div className="tool-body">
          <h4 className="tiny muted">{texts.arguments}</h4>
          <JsonText text={args === '' ? '{}' : args} label={texts.arguments} />
          {progress && <Progress content={progress.content} isOver={isOver} />}
          {error !== undefined && (
            <>
              <h4 className="tiny muted">{texts.error}</h4>
              <p className="tool-error small">{error}</p>
            </>
          )}
          {result && error === undefined && (
            <>
              <h4 className="tiny muted">{texts.result}</h4>
              <ContentView content={result.content} />
            </>
          )}
        </div>
      </Fold>
      <CallWidget row={row} />
    </>
  )
})

function CallStatus({ row: { result, span } }: { readonly row: CallRow }): ReactNode {
  const texts = useTexts()
  const took = tookOf(span)
  if (result?.error !== undefined) return <span className="badge badge-bad">{took ?? texts.failed}</span>
  if (result) return <span className="badge badge-good">{took ?? texts.done}</span>
  return <span className="badge is-at-work">{span ? texts.statusRunning : texts.open}</span>
}

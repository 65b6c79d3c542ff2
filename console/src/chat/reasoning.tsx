import { memo } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Fold } from '../ui/fold.js'
import { Markdown } from '../ui/markdown.js'
import { useFold } from './folds.js'
import { tookOf } from './took.js'
import type { Row } from './rows.js'
import './reasoning.css'

/** What the model thinks: open while it thinks, one line afterwards. */
export const Reasoning = memo(({ row }: { readonly row: Extract<Row, { readonly kind: 'reasoning' }> }) => {
  const texts = useTexts()
  const { message, span } = row
  const isThinking = span !== undefined && span.endedAt === undefined
  const [isOpen, toggle] = useFold(row.key, isThinking)
  const took = tookOf(span)
  const title = isThinking ? texts.thinking : took === undefined ? texts.thought : texts.thoughtFor(took)
  return (
    <Fold
      className="reasoning"
      isOpen={isOpen}
      onToggle={toggle}
      head={<span className={`muted ${isThinking ? 'is-at-work' : ''}`}>{title}</span>}
    >
      <div className="reasoning-text">
        <Markdown text={message.content} />
      </div>
    </Fold>
  )
})

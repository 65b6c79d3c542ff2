import type { ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import './progress.css'

/** How far a tool is: a bar when it tells numbers, and its words. */
export function Progress({
  content,
  isOver,
}: {
  readonly content: Readonly<Record<string, unknown>>
  readonly isOver: boolean
}): ReactNode {
  const texts = useTexts()
  const share = isOver ? 1 : shareOf(content)
  const words = wordsOf(content)
  return (
    <div className="progress">
      {share !== undefined && <progress max={1} value={share} aria-label={texts.progress} />}
      {words !== '' && <span className="small muted">{words}</span>}
    </div>
  )
}

/** From 0 to 1, of what tools usually say: `progress: 0.4`, `percent: 40`, `done: 2, total: 5`. */
function shareOf(content: Readonly<Record<string, unknown>>): number | undefined {
  const number = (...names: readonly string[]): number | undefined =>
    names.map((name) => content[name]).find((value) => typeof value === 'number')
  const total = number('total', 'max', 'of')
  const done = number('done', 'current', 'step', 'value', 'loaded', 'completed', 'progress')
  const percent = number('percent', 'percentage')
  if (percent !== undefined) return clamp(percent / 100)
  if (done === undefined) return undefined
  if (total !== undefined && total > 0) return clamp(done / total)
  return typeof content.progress === 'number' ? clamp(done > 1 ? done / 100 : done) : undefined
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}

function wordsOf(content: Readonly<Record<string, unknown>>): string {
  const { message, status, text, toolCallId: _id, toolName: _name, ...rest } = content
  const words = [message, status, text].find(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
  if (words !== undefined) return String(words)
  const others = Object.entries(rest).filter(([, value]) => typeof value !== 'object')
  return others.map(([key, value]) => `${key}: ${String(value)}`).join(', ')
}

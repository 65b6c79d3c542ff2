import { useMemo, type ReactNode } from 'react'
import { highlightCode } from './highlight-code.js'
import './json-text.css'

const maxColoured = 20_000

/** JSON, set in lines if it is whole, with its colours. Other text stays as it is. */
export function JsonText({ text, label }: { readonly text: string; readonly label?: string }): ReactNode {
  const shown = useMemo(() => inLines(text), [text])
  const html = useMemo(
    () => (shown.length <= maxColoured && shown !== text ? highlightCode(shown) : undefined),
    [shown, text],
  )
  return (
    <pre
      className="json-text"
      tabIndex={0}
      aria-label={label}
      role={label === undefined ? undefined : 'group'}
    >
      {html === undefined ? <code>{shown}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}
    </pre>
  )
}

function inLines(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    // It is still being written, or no JSON.
    return text
  }
}

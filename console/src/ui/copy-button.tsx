import { useEffect, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from './icon.js'
import './copy-button.css'

/** Copies a text, and says so. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const texts = useTexts()
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // The browser forbids it, as on pages without TLS: nothing is copied, and nothing says so.
      () => undefined,
    )
  }
  return (
    <button type="button" className="copy-button" aria-label={isCopied ? texts.copied : label} onClick={copy}>
      <Icon name={isCopied ? 'check' : 'copy'} size={15} />
    </button>
  )
}

import type { ReactNode } from 'react'
import type { ThreadSnapshot } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'

/** Tokens of the latest run, by model. */
export function UsageLine({ usage }: { readonly usage: ThreadSnapshot['usage'] }): ReactNode {
  const texts = useTexts()
  return (
    <p className="usage muted tiny" aria-label={texts.usage}>
      {usage.map(({ model, inputTokens = 0, outputTokens = 0 }, index) => (
        <span key={index}>
          {model === undefined ? '' : `${model} · `}
          {texts.tokens(inputTokens.toLocaleString(), outputTokens.toLocaleString())}
        </span>
      ))}
    </p>
  )
}

import { memo, useMemo } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { CopyButton } from './copy-button.js'
import { highlightCode } from './highlight-code.js'

/** Code with its colours, the name of its language and a button to copy it. */
export const CodeBlock = memo(({ code, language }: { readonly code: string; readonly language: string }) => {
  const texts = useTexts()
  const html = useMemo(() => highlightCode(code), [code])
  return (
    <figure className="code-block">
      <figcaption className="code-head">
        <span className="tiny muted">{language}</span>
        <CopyButton text={code} label={texts.copyCode} />
      </figcaption>
      <pre className="code" tabIndex={0}>
        <code dangerouslySetInnerHTML={{ __html: html }} />
      </pre>
    </figure>
  )
})

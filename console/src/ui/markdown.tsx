import DOMPurify from 'dompurify'
import { Marked } from 'marked'
import { memo, useMemo, type ReactNode } from 'react'
import { highlight } from 'sugar-high'
import './markdown.css'

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    code({ text, lang }) {
      const language = (lang ?? '').replace(/[^\w+-]/g, '')
      return `<pre class="code" data-language="${language}"><code>${highlight(text)}</code></pre>`
    },
  },
})

/** Pictures of other hosts are not loaded, forms and frames are not drawn, and links open elsewhere. */
const clean = {
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'iframe', 'object', 'svg', 'math'],
  FORBID_ATTR: ['style', 'id', 'name'],
  ADD_ATTR: ['target'],
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer')
  }
  if (node.tagName === 'IMG' && !/^(data|blob):/.test(node.getAttribute('src') ?? '')) node.remove()
})

/** Text of a model, drawn. Whole blocks keep their elements while the last one grows. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  const blocks = useMemo(() => marked.lexer(text).map(({ raw }) => raw), [text])
  return (
    <div className="markdown">
      {blocks.map((raw, index) => (
        <Block key={index} raw={raw} />
      ))}
    </div>
  )
}

const Block = memo(({ raw }: { readonly raw: string }) => {
  const html = useMemo(() => DOMPurify.sanitize(marked.parse(raw, { async: false }), clean), [raw])
  return <div dangerouslySetInnerHTML={{ __html: html }} />
})

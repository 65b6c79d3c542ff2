import { Marked, type Token, type Tokens } from 'marked'
import { memo, useMemo, useState, type ReactNode } from 'react'
import { cleanHtml } from './clean-html.js'
import { CodeBlock } from './code-block.js'
import './markdown.css'

/** HTML that a model writes is shown as text: it has no business in this page. */
const marked = new Marked({ gfm: true, breaks: true, renderer: { html: ({ text }) => toText(text) } })

/** Text of a model, drawn. Whole blocks keep their elements while the last one grows. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  const [split] = useState(createSplitter)
  const blocks = useMemo(() => split(text), [split, text])
  return (
    <div className="markdown">
      {blocks.map((block, index) =>
        block.type === 'code' ? (
          <CodeBlock key={index} code={(block as Tokens.Code).text} language={languageOf(block)} />
        ) : (
          <Block key={index} raw={block.raw} />
        ),
      )}
    </div>
  )
}

const Block = memo(({ raw }: { readonly raw: string }) => {
  const html = useMemo(() => cleanHtml(marked.parse(raw, { async: false })), [raw])
  return <div className="markdown-block" dangerouslySetInnerHTML={{ __html: html }} />
})

/** What follows may still change the last blocks: a list goes on after an empty line. */
const openBlocks = 3

/** Cuts a text into blocks. Of one that has grown, only its end is read again. */
function createSplitter(): (text: string) => readonly Token[] {
  let known = ''
  let blocks: readonly Token[] = []
  return (text) => {
    const kept = text.startsWith(known) ? blocks.slice(0, -openBlocks) : []
    const start = kept.reduce((length, { raw }) => length + raw.length, 0)
    blocks = [...kept, ...marked.lexer(text.slice(start))]
    known = text
    return blocks.filter(({ type }) => type !== 'space')
  }
}

function languageOf(block: Token): string {
  return ((block as Tokens.Code).lang ?? '').split(/\s/, 1)[0] ?? ''
}

function toText(html: string): string {
  if (/^<br\s*\/?>$/i.test(html.trim())) return '<br>'
  return html.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
